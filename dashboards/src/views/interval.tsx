// A ratio with its interval, drawn on a logarithmic line whose middle is 1.
import type { StageVerdict } from '../../generated/proto/assay_pb';
import { ratio } from '../format';

const limits = [1.02, 1.05, 1.1, 1.25, 1.5, 2, 4];

// How far from 1 the lines of a table go, so that all of them fit; beyond the last limit they are cut.
export function limitOf(stages: StageVerdict[]): number {
  const drawn = stages.filter((stage) => stage.hasRatio && stage.ratioLow > 0);
  const most = Math.max(1, ...drawn.flatMap((stage) => [stage.ratioHigh, 1 / stage.ratioLow]));
  return limits.find((limit) => limit >= most) ?? 4;
}

const width = 150;
const middle = width / 2;
const reach = middle - 8;

export function Interval({ stage, limit }: { stage: StageVerdict; limit: number }) {
  const offset = (value: number) => (Math.log(value) / Math.log(limit)) * reach;
  const place = (value: number) => middle + Math.min(Math.max(offset(value), -reach), reach);
  const text = `${ratio(stage.ratio)}, interval ${ratio(stage.ratioLow)} to ${ratio(stage.ratioHigh)}`;
  return (
    <svg class="interval" width={width} height="16" role="img" aria-label={text}>
      <title>{text}</title>
      <line class="rail" x1={middle - reach} x2={middle + reach} y1="8" y2="8" />
      <line class="axis" x1={middle} x2={middle} y1="0" y2="16" />
      <line class="span" x1={place(stage.ratioLow)} x2={place(stage.ratioHigh)} y1="8" y2="8" />
      {offset(stage.ratioLow) < -reach && <path class="cut" d={`M${middle - reach - 7} 8l7 -4v8z`} />}
      {offset(stage.ratioHigh) > reach && <path class="cut" d={`M${middle + reach + 7} 8l-7 -4v8z`} />}
      <line class="point" x1={place(stage.ratio)} x2={place(stage.ratio)} y1="3" y2="13" />
    </svg>
  );
}

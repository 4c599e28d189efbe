// A chart, loaded when the first one is shown. What it shows is in a table beside it too.
import type { EChartsCoreOption, ECharts } from 'echarts/core';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useTheme } from '../theme';

export type EChartsOption = EChartsCoreOption;

interface Props {
  label: string;
  option: EChartsOption;
  height?: number;
  table?: ComponentChildren;
  onClick?: (item: { dataIndex?: number; seriesName?: string; name?: string; data?: unknown }) => void;
}

export function Chart({ label, option, height = 320, table, onClick }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts>();
  const newest = useRef({ label, option, onClick });
  newest.current = { label, option, onClick };
  const theme = useTheme();
  const [failed, setFailed] = useState(false);

  const show = () => {
    const description = newest.current.label;
    chart.current?.setOption({ aria: { enabled: true, label: { description } }, animation: false, ...newest.current.option }, true);
  };

  useEffect(() => {
    let gone = false;
    let resize: ResizeObserver | undefined;
    import('./library').then(
      ({ create }) => {
        if (gone || !place.current) return;
        const made = create(place.current, theme);
        made.on('click', (item) => newest.current.onClick?.(item as never));
        chart.current = made;
        show();
        resize = new ResizeObserver(() => made.resize());
        resize.observe(place.current);
      },
      () => setFailed(true),
    );
    return () => {
      gone = true;
      resize?.disconnect();
      chart.current?.dispose();
      chart.current = undefined;
    };
  }, [theme]);

  useEffect(show, [option, label]);

  return (
    <figure class="chart">
      <figcaption>{label}</figcaption>
      {failed ? (
        <p class="empty">The chart cannot be loaded; the table has its values.</p>
      ) : (
        <div ref={place} role="img" aria-label={label} class="canvas" style={{ height: `${height}px` }} />
      )}
      {table && (
        <details>
          <summary>Values as a table</summary>
          {table}
        </details>
      )}
    </figure>
  );
}

// The parts of the chart library that the page uses. Everything is drawn as SVG.
import { BoxplotChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  ParallelComponent,
  TooltipComponent,
  VisualMapComponent,
} from 'echarts/components';
import { init, use, type ECharts } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Theme } from '../theme';
import { palette } from './colors';

use([
  AriaComponent,
  BoxplotChart,
  DataZoomComponent,
  GridComponent,
  HeatmapChart,
  LegendComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  ParallelChart,
  ParallelComponent,
  SVGRenderer,
  ScatterChart,
  TooltipComponent,
  VisualMapComponent,
]);

export function create(place: HTMLElement, theme: Theme): ECharts {
  const colors = palette(theme);
  const axis = {
    axisLine: { lineStyle: { color: colors.line } },
    axisLabel: { color: colors.quiet },
    nameTextStyle: { color: colors.quiet },
    splitLine: { lineStyle: { color: colors.grid } },
  };
  return init(
    place,
    {
      color: colors.series,
      backgroundColor: 'transparent',
      textStyle: { color: colors.text, fontFamily: 'system-ui, sans-serif' },
      categoryAxis: axis,
      valueAxis: axis,
      logAxis: axis,
      tooltip: {
        renderMode: 'richText',
        backgroundColor: colors.paper,
        borderColor: colors.line,
        textStyle: { color: colors.text },
      },
      legend: { textStyle: { color: colors.text } },
    },
    { renderer: 'svg' },
  );
}

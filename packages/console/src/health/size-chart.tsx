import { Caption, type ChartProps, sum } from "../ui/chart.tsx";

const WIDTH = 1000;

/** A chart of few long names: one bar for each below the other, with its name and its figures beside it. */
export function SizeChart({ title, series, bars, format = String }: ChartProps) {
  const most = Math.max(1, ...bars.map(({ values }) => sum(values)));
  const widthOf = (values: readonly number[]): number => (sum(values) / most) * WIDTH;
  return (
    <figure class="chart">
      <Caption title={title} series={series} />
      <ul class="bars">
        {bars.map(({ label, values }, position) => (
          <li key={position}>
            <span class="name">{label}</span>
            <svg viewBox={`0 0 ${WIDTH} 1`} preserveAspectRatio="none" aria-hidden="true">
              {values.map((value, index) => (
                <rect
                  key={series[index]}
                  class={`series-${index}`}
                  x={widthOf(values.slice(0, index))}
                  width={widthOf([value])}
                  height="1"
                />
              ))}
            </svg>
            <span class="quiet">{values.map((value, index) => `${series[index]} ${format(value)}`).join(", ")}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

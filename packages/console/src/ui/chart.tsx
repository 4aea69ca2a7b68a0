/** A chart of stacked bars, drawn as SVG. A table with the same figures serves people who cannot see it. */

/** It has one value for each series, in their order. */
type Bar = Readonly<{ label: string; values: readonly number[] }>;

type Props = Readonly<{ title: string; series: readonly string[]; bars: readonly Bar[] }>;

const HEIGHT = 120;
const WIDTH = 20;
const GAP = 4;
/** Least number of bars for which the chart has room, so that a few bars are not as wide as the page. */
const LEAST_BARS = 24;

export function Chart({ title, series, bars }: Props) {
  const most = Math.max(1, ...bars.map(({ values }) => sum(values)));
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <ul class="legend">
          {series.map((name, index) => (
            <li key={name} class={`series-${index}`}>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        viewBox={`0 0 ${Math.max(LEAST_BARS, bars.length) * (WIDTH + GAP)} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map((bar, position) => (
          <g key={bar.label} transform={`translate(${position * (WIDTH + GAP)} 0)`}>
            <title>{`${bar.label}: ${bar.values.map((value, index) => `${value} ${series[index]}`).join(", ")}`}</title>
            {bar.values.map((value, index) => (
              <rect
                key={series[index]}
                class={`series-${index}`}
                width={WIDTH}
                height={(value / most) * HEIGHT}
                y={HEIGHT - (sum(bar.values.slice(0, index + 1)) / most) * HEIGHT}
              />
            ))}
          </g>
        ))}
      </svg>
      <div class="axis quiet" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        {bars.length > 1 && <span>{bars.at(-1)!.label}</span>}
      </div>
      <details>
        <summary>Show as table</summary>
        <FigureTable title={title} series={series} bars={bars} />
      </details>
    </figure>
  );
}

function FigureTable({ title, series, bars }: Props) {
  return (
    <table>
      <caption class="unseen">{title}</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          {series.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ label, values }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {values.map((value, index) => (
              <td key={series[index]}>{value}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

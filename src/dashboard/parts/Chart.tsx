/** A chart over time, with the same numbers as a table for screen readers. The library of charts is loaded with the first chart. */
import { lazy, Suspense } from "react"
import { Loading } from "./Panel.tsx"

interface Series {
  readonly label: string
  readonly values: ReadonlyArray<number>
  /** Custom property of the colour. */
  readonly color: string
}

export interface ChartProps {
  readonly label: string
  readonly times: ReadonlyArray<string>
  readonly series: ReadonlyArray<Series>
  readonly format: (value: number) => string
  readonly formatTime: (at: string) => string
  readonly height?: number
  /** Called with the times of the first and of the last bar that the user selects by dragging. */
  readonly onSelect?: ((first: string, last: string) => void) | undefined
  /** Smallest range of the values; 0 for values that may be far below one. */
  readonly minimum?: number
}

const Plot = lazy(() => import("./Plot.tsx"))

export const Chart = (props: ChartProps) => {
  const { format, formatTime, label, series, times } = props
  return (
    <figure className="chart" aria-label={label}>
      <ul className="legend" aria-hidden="true">
        {series.map((one) => (
          <li key={one.label}>
            <span style={{ background: `var(${one.color})` }} />
            {one.label}
          </li>
        ))}
      </ul>
      <div aria-hidden="true">
        <Suspense fallback={<Loading rows={4} />}>
          <Plot {...props} />
        </Suspense>
      </div>
      <table className="hidden">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th>{label}</th>
            {series.map((one) => (
              <th key={one.label}>{one.label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at, index) => (
            <tr key={at}>
              <th>{formatTime(at)}</th>
              {series.map((one) => (
                <td key={one.label}>{format(one.values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

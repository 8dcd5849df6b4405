/** Empties the metrics of the process, which runs one file of tests after the other: each file counts from zero. */
import { Context, Metric } from "effect"

Context.get(Context.empty(), Metric.MetricRegistry).clear()

/** Checks metrics in the text format of Prometheus by the rules of `promtool check metrics`. */

/** Units that have a base unit, and the name of that. */
const notBaseUnits = /_(?:milliseconds|ms|microseconds|minutes|hours|days|kilobytes|kb|megabytes|mb|percent)(?:_|$)/

export interface MetricFamily {
  readonly name: string
  readonly type: string
  readonly samples: ReadonlyArray<{ readonly labels: Readonly<Record<string, string>>; readonly value: number }>
}

const sampleForm = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/

const familyOf = (sample: string, type: string): string =>
  type === "histogram" || type === "summary" ? sample.replace(/_(?:bucket|sum|count)$/, "") : sample

const lintName = (name: string, type: string): ReadonlyArray<string> => [
  ...(!name.startsWith("aicr_") ? [`${name}: does not start with aicr_`] : []),
  ...(type === "counter" && !name.endsWith("_total") ? [`${name}: a counter without _total`] : []),
  ...(type !== "counter" && name.endsWith("_total") ? [`${name}: _total, but no counter`] : []),
  ...(/_(?:bucket|sum|count|info)$/.test(name) ? [`${name}: reserved suffix`] : []),
  ...(/_(?:counter|gauge|histogram|summary)(?:_|$)/.test(name) ? [`${name}: names its type`] : []),
  ...(notBaseUnits.test(name) ? [`${name}: not in a base unit`] : []),
  ...(/[A-Z]/.test(name) ? [`${name}: upper case`] : [])
]

/** Returns the families of the text and every violation. */
export const checkMetrics = (
  text: string
): { readonly families: ReadonlyMap<string, MetricFamily>; readonly problems: ReadonlyArray<string> } => {
  const families = new Map<string, { name: string; type: string; samples: Array<MetricFamily["samples"][number]> }>()
  const problems: Array<string> = []
  const helped = new Set<string>()
  const seen = new Set<string>()
  let current = ""
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === "HELP") {
      if (helped.has(name)) problems.push(`${name}: two HELP lines`)
      if (rest.trim() === "") problems.push(`${name}: empty help`)
      helped.add(name)
    } else if (kind === "TYPE") {
      if (families.has(name)) problems.push(`${name}: two TYPE lines`)
      if (!helped.has(name)) problems.push(`${name}: no help`)
      problems.push(...lintName(name, rest))
      families.set(name, { name, type: rest, samples: [] })
      current = name
    } else {
      const [, sample = "", labels = "", value = ""] = sampleForm.exec(line) ?? []
      const family = families.get(current)
      if (family === undefined || familyOf(sample, family.type) !== current) {
        problems.push(`${line}: not below its TYPE line`)
        continue
      }
      if (seen.has(`${sample}{${labels}}`)) problems.push(`${sample}{${labels}}: two samples`)
      seen.add(`${sample}{${labels}}`)
      const pairs = [...labels.matchAll(/([a-z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", content = ""]) => [
        key,
        content
      ])
      family.samples.push({ labels: Object.fromEntries(pairs), value: Number(value) })
    }
  }
  return { families, problems }
}

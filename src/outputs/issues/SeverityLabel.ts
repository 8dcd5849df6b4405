/** The label of a managed issue that names the severity of its worst problem (`severity_label_prefix`). Pure. */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { Severity, severityRank } from "../../domain/Kinds.ts"
import type { HostIssue, HostLabel } from "../../forge/Forge.ts"

const colors: Readonly<Record<Severity, string>> = {
  critical: "b91c1c",
  high: "ea580c",
  medium: "d97706",
  low: "ca8a04",
  info: "2563eb"
}

/** Returns the label of a severity; undefined where the channel attaches none. */
export const severityLabel = (channel: ChannelConfig, severity: Severity | undefined): HostLabel | undefined => {
  const prefix = channel.severity_label_prefix
  if (prefix === undefined || severity === undefined) return undefined
  const color = (channel.severity_label_colors?.[severity] ?? colors[severity]).replace("#", "")
  return { name: `${prefix}${severity}`, color }
}

/** Returns the severities whose labels an issue has. */
const labelledSeverities = (channel: ChannelConfig, { labels }: HostIssue): ReadonlyArray<Severity> => {
  const names = new Set(labels.map((name) => name.toLowerCase()))
  return Severity.literals.filter((severity) => {
    const label = severityLabel(channel, severity)
    return label !== undefined && names.has(label.name.toLowerCase())
  })
}

const worst = (severities: ReadonlyArray<Severity>): Severity | undefined =>
  severities.toSorted((a, b) => severityRank(b) - severityRank(a))[0]

/** Returns the severity of the worst problem. Problems in old issues have none: the label of their issue counts. */
export const worstSeverity = (
  channel: ChannelConfig,
  problems: ReadonlyArray<{ readonly severity?: Severity | undefined }>,
  issue?: HostIssue
): Severity | undefined => {
  const labelled = issue && worst(labelledSeverities(channel, issue))
  return worst(problems.flatMap(({ severity }) => severity ?? labelled ?? []))
}

/** Returns which labels an edit replaces by that of `severity`; nothing if the issue has the right one only. */
export const followSeverity = (
  channel: ChannelConfig,
  issue: HostIssue,
  severity: Severity | undefined
): { readonly severity?: Severity; readonly oldSeverities?: ReadonlyArray<Severity> } => {
  if (severity === undefined || channel.severity_label_prefix === undefined) return {}
  const labelled = labelledSeverities(channel, issue)
  const old = labelled.filter((other) => other !== severity)
  return old.length === 0 && labelled.length > 0 ? {} : { severity, oldSeverities: old }
}

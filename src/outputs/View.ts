/**
 * What templates see: event, target, repo, vcs, run, summary, problems, problem, mentions, and the words in the output language. All
 * text from models and changes is safe here already, so a template cannot forget to escape it.
 */
import type { Change } from "../domain/Change.ts"
import type { Severity } from "../domain/Kinds.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"
import type { PublishInput } from "./Channel.ts"
import { labelsFor } from "./Labels.ts"
import { headUrl } from "./Links.ts"
import { mentionSlot } from "./Mention.ts"
import { codeSpan, fenced, safeLine, safeMarkdown } from "./SafeText.ts"

const icons: Readonly<Record<Severity, string>> = { critical: "🛑", high: "🔴", medium: "🟠", low: "🟡", info: "🔵" }

/** Stands where a summary says what became of earlier problems (SinceLast.ts). No text from elsewhere can hold it (SafeText.ts). */
export const sinceSlot = "<!-- aicr-since -->"

/** Longest lists in a summary: the run record has all of it. */
const mostPaths = 40

/** Lines that a suggestion on GitLab can replace above the line that it stands on. */
const mostAbove = 100

/** How a host writes a change that its reader can commit with one click. */
export type SuggestionStyle = "lines" | "offsets" | "plain"

const suggestionBlock = (finding: Finding, style: SuggestionStyle): string | undefined => {
  const { suggestion } = finding.problem
  const { anchor } = finding
  if (suggestion === undefined || suggestion.trim() === "") return undefined
  if (style === "plain" || anchor === undefined || anchor.side === "old") return fenced("", suggestion)
  const above = anchor.line - (anchor.start ?? anchor.line)
  // GitLab silently takes no more lines than this, and would replace a part of what the suggestion was written for.
  if (style === "offsets" && above > mostAbove) return fenced("", suggestion)
  return fenced(style === "offsets" ? `suggestion:-${above}+0` : "suggestion", suggestion)
}

const placeOf = ({ anchor, problem }: Finding): string => {
  const path = codeSpan(anchor?.path ?? problem.file)
  const line = anchor?.line ?? problem.line
  if (line === undefined) return path
  const first = anchor === undefined ? undefined : anchor.start
  return `${path}:${first === undefined || first === line ? line : `${first}-${line}`}`
}

export const problemView = (finding: Finding, language: string, style: SuggestionStyle, place_link?: string) => {
  const { problem, anchor } = finding
  const labels = labelsFor(language)
  return {
    file: safeLine(anchor?.path ?? problem.file),
    line: anchor?.line ?? problem.line,
    start: anchor?.start,
    place: placeOf(finding),
    place_link: place_link === undefined ? placeOf(finding) : `[${placeOf(finding)}](${place_link})`,
    severity: problem.severity,
    severity_label: labels.severity[problem.severity],
    icon: icons[problem.severity],
    category: safeLine(problem.category).replaceAll("`", ""),
    title: problem.title === undefined ? undefined : safeLine(problem.title),
    message: safeMarkdown(problem.message),
    suggestion: problem.suggestion,
    suggestion_block: suggestionBlock(finding, style),
    code_block: suggestionBlock(finding, "plain"),
    confidence: problem.confidence,
    fingerprint: finding.fingerprint
  }
}

/** What every template sees. */
export const frameView = (
  { change, head, analysis, runUrl, runId, workspace, linkTemplates }: PublishInput,
  mention: boolean
) => {
  return {
    labels: labelsFor(workspace.review.output_language),
    event: { provider: change.provider, trigger: change.trigger, requested_by: change.requestedBy },
    target: {
      kind: change.target.kind,
      number: change.target.number,
      branch: change.target.branch,
      title: change.title === undefined ? undefined : safeLine(change.title),
      url: change.url,
      place: placeOfTarget(change)
    },
    repo: { full_name: change.repo.fullName, url: change.repo.webUrl },
    vcs: {
      head,
      head_short: head.slice(0, 12),
      head_link: headLink(headUrl(change, head, linkTemplates), head),
      head_url: headUrl(change, head, linkTemplates),
      base: change.base,
      head_ref: change.headRef,
      base_ref: change.baseRef
    },
    run: {
      id: runId,
      url: runUrl,
      models: analysis.models.map(codeSpan).join(", "),
      requests: analysis.usage.requests,
      cost_usd: analysis.usage.costUsd
    },
    mentions: mention ? mentionSlot : undefined
  }
}

/** What was reviewed, linked where the host said where it is. */
const placeOfTarget = ({ repo, target, url, title }: Change): string => {
  const number =
    target.number === undefined ? (target.branch === undefined ? "" : ` ${target.branch}`) : ` #${target.number}`
  const name = safeLine(`${repo.fullName}${number}`)
  const linked = url !== undefined && /^https?:\/\/[^\s()]+$/.test(url) ? `[${name}](${url})` : name
  return title === undefined ? linked : `${linked} ${safeLine(title)}`
}

const headLink = (url: string | undefined, head: string): string => {
  const short = codeSpan(head.slice(0, 12))
  return url === undefined ? short : `[${short}](${url})`
}

export interface Shares {
  /** Findings that the channel publishes. */
  readonly shown: ReadonlyArray<Finding>
  /** Those that get a comment at their line. */
  readonly inline: ReadonlyArray<Finding>
  /** How many the channel's least severity hides. */
  readonly hidden: number
}

export interface SummaryOptions {
  readonly mention: boolean
  /** Whether the text is compared with the review before. */
  readonly since: boolean
  readonly notices: ReadonlyArray<string>
}

export const summaryView = (input: PublishInput, shares: Shares, { mention, since, notices }: SummaryOptions) => {
  const { analysis, workspace } = input
  const language = workspace.review.output_language
  const labels = labelsFor(language)
  const atLine = new Set(shares.inline)
  const listed = shares.shown.filter((finding) => !atLine.has(finding))
  const severities = shares.shown.map((finding) => finding.problem.severity)
  const counts = [...new Set(severities)]
    .toSorted((a, b) => severityRank(b) - severityRank(a))
    .map((severity) => ({
      severity,
      label: labels.severity[severity],
      icon: icons[severity],
      count: severities.filter((other) => other === severity).length
    }))
  const { reviewed, skipped, lines } = analysis.coverage
  return {
    ...frameView(input, mention),
    summary: {
      text: safeMarkdown(analysis.summary),
      skipped: analysis.skipped === undefined ? undefined : safeLine(analysis.skipped),
      found: labels.found(shares.shown.length),
      inline: shares.inline.length,
      hidden: shares.hidden === 0 ? undefined : labels.hidden(shares.hidden),
      since: since ? sinceSlot : undefined
    },
    counts: counts.length === 0 ? undefined : counts,
    problems: shares.shown.map((finding) => problemView(finding, language, "plain")),
    listed: listed.length === 0 ? undefined : listed.map((finding) => problemView(finding, language, "plain")),
    notices: [...analysis.notices, ...notices].map(safeLine),
    coverage: {
      line: labels.coverage(reviewed.length, lines, skipped.length),
      read: bounded(reviewed.map(codeSpan), labels.more).join(", "),
      left_out: bounded(
        skipped.map(({ path, reason }) => ({ path: codeSpan(path), reason: labels.skip[reason] })),
        (count) => ({ path: "…", reason: labels.more(count) })
      ),
      files: reviewed.length,
      lines
    }
  }
}

const bounded = <A>(items: ReadonlyArray<A>, rest: (count: number) => A): ReadonlyArray<A> =>
  items.length <= mostPaths ? items : [...items.slice(0, mostPaths), rest(items.length - mostPaths)]

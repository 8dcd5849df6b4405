/**
 * Builds the variables of templates: event, target, repo, vcs, run, summary, problems, problem, mentions, and the labels in the
 * output language. All text from models and changes is already sanitised here, so templates need no escaping.
 */
import { countBySeverity } from "../../domain/Analysis.ts"
import type { Analysis, ChangeFacts } from "../../domain/Analysis.ts"
import type { Change } from "../../domain/Change.ts"
import { countReviewed, countSkipped, countUnchanged, InstructionSource } from "../../domain/Coverage.ts"
import type { Coverage, SkippedFile } from "../../domain/Coverage.ts"
import type { Severity } from "../../domain/Kinds.ts"
import { severityRank } from "../../domain/Kinds.ts"
import { formatUsd } from "../../domain/Money.ts"
import type { Finding } from "../../domain/Problem.ts"
import { settingsFile } from "../../domain/RepositorySettings.ts"
import type { PublishInput } from "../channels/Channel.ts"
import { labelsFor, reviewLabels } from "../Labels.ts"
import type { Labels } from "../Labels.ts"
import { codeSlot } from "./CodeSlot.ts"
import { verbatimFence } from "./Grammars.ts"
import { headUrl, lineUrl, safeUrl } from "./Links.ts"
import { mentionSlot } from "./Mention.ts"
import { isForReaders } from "./Notes.ts"
import type { SafeText } from "../SafeText.ts"
import { signsVerdicts } from "../SigningKeys.ts"
import { summaryText } from "../../domain/SummaryText.ts"
import type { Reason } from "../../domain/Reason.ts"
import { inLanguage } from "../../text/InLanguage.ts"

export const icons: Readonly<Record<Severity, string>> = {
  critical: "🛑",
  high: "🔴",
  medium: "🟠",
  low: "🟡",
  info: "🔵"
}

/** Slots in a summary for its findings, and for the status of earlier ones (FillSummary.ts). External text cannot contain them (SafeText.ts). */
export const listSlot = "<!-- aicr-findings -->"
export const sinceSlot = "<!-- aicr-since -->"

/** Maximum length of lists in a summary; the run record is complete. */
const maxItems = 40

/** Maximum number of lines that a suggestion on GitLab can replace above the line of its comment. */
const maxLinesAbove = 100

/** Syntax of a host for a change that its reader can commit with one click. */
export type SuggestionStyle = "lines" | "offsets" | "plain" | "diff"

const marked = (mark: string, code: string): ReadonlyArray<string> =>
  code === ""
    ? []
    : code
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${mark}${line}`)

const toDiff = (before: string, after: string): string => [...marked("-", before), ...marked("+", after)].join("\n")

/** Lines of the quoted code that a comment repeats. */
const maxQuoted = 30

/** Renders the code that a finding is about, and why a second reading kept it. */
const whyBlock = (
  { anchor, explained, problem, verified }: Finding,
  place: string,
  labels: Pick<Labels, "checked" | "explained">,
  safe: SafeText
): string | undefined => {
  const { quote } = problem
  if (anchor === undefined || quote === undefined || quote.trim() === "")
    return explained === true ? labels.explained : undefined
  const lines = quote.split("\n")
  const code = lines.length > maxQuoted ? [...lines.slice(0, maxQuoted), "…"].join("\n") : quote
  const reason = verified === undefined ? "" : `\n${labels.checked}: ${safe.line(verified)}`
  const kept = explained === true ? `\n${labels.explained}` : ""
  return `${place}${safe.codeBlock("", code)}${reason}${kept}`.trim()
}

/** Renders a finding for people who copy it into a coding agent, in plain text. */
const agentBlock = ({ anchor, problem }: Finding, safe: SafeText): string => {
  const { category, message, severity, suggestion, title } = problem
  const line = anchor?.line ?? problem.line
  const first = anchor?.start ?? line
  const lines = line === undefined ? [] : [`Lines: ${first === line ? line : `${first}-${line}`}`]
  return safe
    .codeBlock(
      "",
      [
        `File: ${anchor?.path ?? problem.file}`,
        ...lines,
        `Problem (${severity}, ${category}): ${title ?? ""}`.trimEnd(),
        message,
        ...(suggestion === undefined ? [] : ["Suggested replacement of these lines:", suggestion]),
        "Task: check this problem in the code as it is now. If it exists, repair it with the smallest change, and change nothing else."
      ].join("\n")
    )
    .trim()
}

const suggestionBlock = (finding: Finding, style: SuggestionStyle, safe: SafeText): string | undefined => {
  const { suggestion } = finding.problem
  const { anchor } = finding
  if (suggestion === undefined || suggestion.trim() === "") return undefined
  if (style === "plain" || anchor === undefined || anchor.side === "old") return safe.codeBlock("", suggestion)
  if (style === "diff") return safe.codeBlock("diff", toDiff(finding.problem.quote ?? "", suggestion))
  const above = anchor.line - (anchor.start ?? anchor.line)
  // GitLab silently ignores further lines and would replace only a part of the intended lines.
  if (style === "offsets" && above > maxLinesAbove) return safe.codeBlock("", suggestion)
  const word = style === "offsets" ? `suggestion:-${above}+0` : "suggestion"
  return verbatimFence(word, suggestion) ?? safe.codeBlock("", suggestion)
}

const renderLocation = ({ anchor, problem }: Finding, { codeSpan }: SafeText): string => {
  const path = codeSpan(anchor?.path ?? problem.file)
  const line = anchor?.line ?? problem.line
  if (line === undefined) return path
  const first = anchor === undefined ? undefined : anchor.start
  return `${path}:${first === undefined || first === line ? line : `${first}-${line}`}`
}

/** Renders the title as a link to the lines, with the location; without a title the location is the link. */
const renderTitle = (title: string | undefined, place: string, link: string | undefined, safe: SafeText): string => {
  const name = title === undefined || title === "" ? place : title
  const linked = link === undefined ? name : safe.link(name, link)
  return name === place ? linked : `${linked} · ${place}`
}

interface ProblemStyle {
  readonly language: string
  readonly suggestions: SuggestionStyle
  readonly safe: SafeText
}

export const problemView = (finding: Finding, { language, suggestions, safe }: ProblemStyle, link?: string) => {
  const { problem, anchor } = finding
  const labels = labelsFor(language)
  const location = renderLocation(finding, safe)
  return {
    file: safe.plain(anchor?.path ?? problem.file),
    line: anchor?.line ?? problem.line,
    start: anchor?.start,
    place: location,
    place_link: link === undefined ? location : safe.link(location, link),
    title_link: renderTitle(problem.title === undefined ? undefined : safe.line(problem.title), location, link, safe),
    severity: problem.severity,
    severity_label: labels.severity[problem.severity],
    icon: icons[problem.severity],
    category: safe.plain(problem.category),
    category_label: safe.plain(labels.category(problem.category)),
    title: problem.title === undefined ? undefined : safe.line(problem.title),
    message: safe.markdown(problem.message),
    suggestion: problem.suggestion === undefined ? undefined : codeSlot(finding.fingerprint),
    suggestion_block: suggestionBlock(finding, suggestions, safe),
    code_block: suggestionBlock(finding, "plain", safe),
    why_block: whyBlock(finding, location, labels, safe),
    agent_block: agentBlock(finding, safe),
    confidence: problem.confidence,
    rule: problem.rule === undefined ? undefined : labels.rule(safe.codeSpan(problem.rule)),
    missed: finding.round?.missed === undefined ? undefined : labels.missed(finding.round.missed),
    fingerprint: finding.fingerprint
  }
}

const name = (safe: SafeText, text: string | undefined): string | undefined =>
  text === undefined ? undefined : safe.plain(text)

/** Returns ids of commits, revisions and changelists unchanged, because templates put them into URLs. */
const commit = (safe: SafeText, text: string | undefined): string | undefined =>
  text === undefined || /^[\w.-]{1,100}$/.test(text) ? text : safe.plain(text)

/** Renders tokens, seconds and cost, as far as known. */
const renderUsage = ({ usage }: Analysis, seconds: number | undefined, language: string): string | undefined => {
  const labels = labelsFor(language)
  const tokens = usage.inputTokens + usage.outputTokens
  const parts = [
    ...(tokens === 0 ? [] : [labels.tokens(tokens.toLocaleString("en-US"))]),
    ...(seconds === undefined ? [] : [`${seconds} s`]),
    ...(usage.costUsd === undefined || tokens === 0
      ? []
      : [`${formatUsd(usage.costUsd, usage.costUsd < 0.1 ? 4 : 2)} USD`])
  ]
  return parts.length === 0 ? undefined : parts.join(" · ")
}

const shortCommit = (head: string, safe: SafeText): string => {
  const first = head.slice(0, 12)
  return /^[\w.-]+$/.test(first) ? `\`${first}\`` : safe.codeSpan(first)
}

/** Returns the variables that every template has. */
export const frameView = (
  input: PublishInput,
  { mention, safe }: { readonly mention: boolean; readonly safe: SafeText }
) => {
  const { change, head, analysis, runUrl, runId, linkTemplates, seconds, sharedUrl } = input
  const url = headUrl(change, head, linkTemplates)
  const short = shortCommit(head, safe)
  return {
    labels: reviewLabels(input),
    event: { provider: change.provider, trigger: change.trigger, requested_by: name(safe, change.requestedBy) },
    target: {
      kind: change.target.kind,
      number: change.target.number,
      branch: name(safe, change.target.branch),
      title: change.title === undefined ? undefined : safe.line(change.title),
      url: safeUrl(change.url),
      place: renderTarget(change, safe)
    },
    repo: { full_name: name(safe, change.repo.fullName), url: safeUrl(change.repo.webUrl) },
    vcs: {
      head: commit(safe, head),
      head_short: commit(safe, head.slice(0, 12)),
      head_link: url === undefined ? short : safe.link(short, url),
      head_url: url,
      base: commit(safe, change.base),
      head_ref: name(safe, change.headRef),
      base_ref: name(safe, change.baseRef)
    },
    run: {
      id: runId,
      url: sharedUrl ?? runUrl,
      statement: linkStatement(input),
      models: analysis.models.map(safe.codeSpan).join(", "),
      requests: analysis.usage.requests,
      cost_usd: analysis.usage.costUsd,
      seconds,
      spent: renderUsage(analysis, seconds, input.workspace.review.output_language)
    },
    mentions: mention ? mentionSlot : undefined
  }
}

/**
 * Returns the part of the page of the run with its statement, which needs the head once the details of the run are removed. Undefined where the
 * verdict gets none, or no page has an address.
 */
const linkStatement = ({ analysis, head, runUrl, workspace }: PublishInput): string | undefined =>
  runUrl === undefined || analysis.inputs === undefined || !signsVerdicts(workspace.snapshot())
    ? undefined
    : `${runUrl}?head=${encodeURIComponent(head)}#statement`

/** Renders the target, as a link if the host provided a URL. */
const renderTarget = ({ repo, target, url, title }: Change, safe: SafeText): string => {
  const of = target.branch === undefined ? "" : ` ${target.branch}`
  const number = target.number === undefined ? of : ` #${target.number}`
  const place = safe.plain(`${repo.fullName}${number}`)
  const address = safeUrl(url)
  const linked = address === undefined ? place : safe.link(place, address)
  return title === undefined ? linked : `${linked} ${safe.line(title)}`
}

export interface Shares {
  /** Findings that the channel publishes. */
  readonly visible: ReadonlyArray<Finding>
  /** Findings with a comment at their line. */
  readonly inline: ReadonlyArray<Finding>
  /** Number of findings below the channel's minimum severity. */
  readonly hidden: number
  /** Late findings and those of folded kinds, of at least this severity: they have no comment. */
  readonly late: ReadonlyArray<Finding>
  readonly folded: ReadonlyArray<Finding>
}

interface SummaryOptions {
  readonly mention: boolean
  /** Whether the text includes the comparison with the previous review. */
  readonly since: boolean
  readonly notices: ReadonlyArray<Reason>
  readonly safe: SafeText
}

export const summaryView = (input: PublishInput, shares: Shares, options: SummaryOptions) => {
  const { analysis, workspace } = input
  const { since, notices, safe } = options
  const language = workspace.review.output_language
  const style = { language, suggestions: "plain", safe } as const
  const labels = labelsFor(language)
  const show = inLanguage(language)
  const toView = (finding: Finding) => problemView(finding, style, lineUrl(input.change, input.head, finding))
  const atLine = new Set(shares.inline)
  const listed = shares.visible.filter((finding) => !atLine.has(finding))
  const severities = shares.visible.map((finding) => finding.problem.severity)
  const counts = [...new Set(severities)]
    .toSorted((a, b) => severityRank(b) - severityRank(a))
    .map((severity) => ({
      severity,
      label: labels.severity[severity],
      icon: icons[severity],
      count: severities.filter((other) => other === severity).length
    }))
  return {
    ...frameView(input, options),
    summary: {
      text: safe.markdown(summaryText(analysis, show)),
      skipped: analysis.skipped === undefined ? undefined : safe.line(show(analysis.skipped)),
      round:
        analysis.round === undefined || analysis.round.number < 2 ? undefined : labels.round(analysis.round.number),
      found: labels.found(shares.visible.length),
      inline: shares.inline.length,
      hidden: shares.hidden === 0 ? undefined : labels.hidden(shares.hidden),
      list: listSlot,
      ...walkthroughView(input, safe),
      since: since ? sinceSlot : undefined
    },
    late: unpostedView(shares.late, labels.late, toView, language),
    folded: unpostedView(shares.folded, labels.folded, toView, language),
    counts: counts.length === 0 ? undefined : counts,
    problems: shares.visible.map(toView),
    at_lines: shares.inline.length === 0 ? undefined : shares.inline.slice(0, maxItems).map(toView),
    more_at_lines: shares.inline.length > maxItems ? labels.more(shares.inline.length - maxItems) : undefined,
    listed: listed.length === 0 ? undefined : listed.map(toView),
    notices: [...analysis.notices, ...notices].filter(isForReaders).map((notice) => safe.line(show(notice))),
    coverage: { ...coverageView(analysis.coverage, labels, safe), settings: settingsText(analysis, labels, safe) },
    react: renderReact(input, shares, safe)
  }
}

/** Returns what was read and what was not. */
export const coverageView = (coverage: Coverage, labels: Labels, safe: SafeText) => {
  const { lines, reviewed } = coverage
  const unchanged = countUnchanged(coverage)
  const skipped = coverage.skipped.filter(({ reason }) => reason !== "unchanged")
  const others = countSkipped(coverage) - unchanged
  return {
    line: labels.coverage({ files: countReviewed(coverage), lines, unchanged, skipped: others }),
    read: renderBounded(reviewed, safe.codeSpan, labels.more, countReviewed(coverage)).join(", "),
    left_out: renderBounded(
      skipped,
      (file) => ({ path: safe.codeSpan(file.path), reason: skipText(file, labels, safe) }),
      (count) => ({ path: "…", reason: labels.more(count) }),
      others
    ),
    ...instructionsView(coverage, labels, safe),
    files: countReviewed(coverage),
    lines
  }
}

/** Renders the instructions of the base branch that applied, and the names of those that do not exist; nothing without any. */
const instructionsView = ({ instructions }: Coverage, labels: Labels, safe: SafeText) => {
  if (instructions === undefined) return {}
  const sources = new Set(instructions.map(({ source }) => source))
  return {
    instructions: instructions
      .map(({ applied, found, source }) => {
        const shown = safe.codeSpan(source)
        return applied === 1 && found === 1 ? shown : `${shown} (${labels.applied(applied, found)})`
      })
      .join(", "),
    not_found: InstructionSource.literals
      .filter((source) => !sources.has(source))
      .map(safe.codeSpan)
      .join(", ")
  }
}

/** Renders which settings of the repository apply; undefined if its workspace permits none. */
const settingsText = ({ settings }: Pick<Analysis, "settings">, labels: Labels, safe: SafeText) => {
  if (settings === undefined) return undefined
  const { applied, found, notAllowed } = settings
  if (!found) return `${safe.codeSpan(settingsFile)} (${labels.notFound})`
  const parts = [
    ...(applied.length === 0 ? [] : [applied.map(safe.codeSpan).join(", ")]),
    ...(notAllowed.length === 0
      ? []
      : [`${labels.notAllowed}${labels.colon}${notAllowed.map(safe.codeSpan).join(", ")}`])
  ]
  return parts.length === 0 ? labels.noSettings : parts.join("; ")
}

/** Returns problems that only the summary lists. */
const unpostedView = <A>(
  findings: ReadonlyArray<Finding>,
  title: (counts: string) => string,
  toView: (finding: Finding) => A,
  language: string
) => {
  if (findings.length === 0) return undefined
  const labels = labelsFor(language)
  const severities = countBySeverity(findings.map(({ problem }) => problem.severity)).map((one): Reason => ({
    _tag: "SeverityCount",
    ...one
  }))
  return {
    title: title(inLanguage(language)({ _tag: "ProblemsFound", severities })),
    problems: findings.slice(0, maxItems).map(toView),
    more: findings.length > maxItems ? labels.more(findings.length - maxItems) : undefined
  }
}

/** Commits as they are in HTML. */
const htmlCommit = (head: string): string => `<code>${head.slice(0, 12).replace(/[^\w.-]/g, "")}</code>`

/** Renders measured facts as a list. */
export const renderFacts = (
  { additions, deletions, files, names, riskiest, tests }: ChangeFacts,
  language: string,
  safe: SafeText
): string => {
  const { facts } = labelsFor(language)
  const paths = riskiest.map(safe.codeSpan).join(", ")
  const rows = [
    `${facts.size(files, additions, deletions)}${paths === "" ? "" : `${facts.riskiest}${paths}`}`,
    facts.tests(tests),
    ...(names === undefined
      ? []
      : [
          names.length === 0
            ? facts.noNames
            : facts.names(
                renderBounded(
                  names,
                  ({ name: one }) => safe.codeSpan(one),
                  () => "…",
                  names.length
                ).join(", ")
              )
        ])
  ]
  return rows.map((row) => `- ${row}`).join("\n")
}

/** Explains the change in the words of the model, with the facts that were measured. */
const walkthroughView = ({ analysis, head, workspace }: PublishInput, safe: SafeText) => {
  const { output_language: language, walkthrough } = workspace.review
  const labels = labelsFor(language)
  // Without a model's text, the summary is what was concluded.
  const isShown = analysis.conclusion !== undefined || (walkthrough !== "off" && analysis.summary !== "")
  const described = analysis.summaryHead ?? head
  const isWalkthrough = isShown && analysis.conclusion === undefined
  return {
    explains: isShown ? true : undefined,
    folded: isWalkthrough && walkthrough === "folded" ? labels.described(htmlCommit(described)) : undefined,
    described: isWalkthrough ? labels.described(shortCommit(described, safe)) : undefined,
    facts: isWalkthrough && analysis.facts !== undefined ? renderFacts(analysis.facts, language, safe) : undefined
  }
}

/** Renders the line about what a reader can do with these findings: those without a comment have no thread. */
const renderReact = (
  { change, guideUrl, workspace }: PublishInput,
  { inline, visible }: Shares,
  safe: SafeText
): string | undefined => {
  const labels = labelsFor(workspace.review.output_language)
  const { comment_commands: hasCommands, conversation } = workspace.review
  const isHost = change.provider !== "perforce"
  const byNumber = hasCommands && isHost ? labels.dismissByNumber : undefined
  const askBy = inline.length > 0 || !isHost ? labels.askBy : labels.askAnywhere
  const parts = [
    ...(visible.length === 0 ? [] : [inline.length > 0 ? labels.dismissBy[change.provider] : byNumber]),
    hasCommands && conversation.enabled && (isHost || conversation.from !== "writers") ? askBy : undefined,
    hasCommands && isHost ? labels.reviewAgain : undefined,
    guideUrl === undefined ? undefined : safe.link(labels.guide, guideUrl)
  ].filter((part) => part !== undefined)
  return change.target.kind === "pull_request" || change.provider === "perforce" ? parts.join(" · ") : undefined
}

/** Renders only the listed items, because a change may have a hundred thousand files. */
const renderBounded = <A, B>(
  items: ReadonlyArray<A>,
  toRow: (item: A) => B,
  toRest: (count: number) => B,
  total: number
): ReadonlyArray<B> => {
  const rows = items.slice(0, maxItems).map(toRow)
  return total <= rows.length ? rows : [...rows, toRest(total - rows.length)]
}

/** Returns why a file was not read, and how many of its changed lines were. */
const skipText = ({ changed, read, reason, rule }: SkippedFile, labels: Labels, safe: SafeText): string => {
  const details = [
    ...(rule === undefined ? [] : [safe.codeSpan(rule)]),
    ...(changed === undefined || read === undefined ? [] : [labels.linesRead(read, changed)])
  ]
  return details.length === 0 ? labels.skip[reason] : `${labels.skip[reason]} (${details.join(", ")})`
}

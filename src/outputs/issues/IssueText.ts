/**
 * Body of a managed issue: an optional heading with the issue's own marker, then each problem's text followed by its marker. The
 * content of an issue is parsed from its markers, so the host holds the ledger and the loss of the database has no effect on it.
 * Pure.
 */
import type { OperationId } from "../../domain/Keys.ts"
import type { Severity } from "../../domain/Kinds.ts"
import type { IssueProblem } from "../../domain/Publication.ts"
import type { HostIssue } from "../../forge/Forge.ts"
import { cut, shorten } from "../text/Cut.ts"
import { splitAtMarkers, parseMarkers, renderMarker, textBelowMarkers } from "../Marker.ts"
import type { ExistingProblem } from "../review/Reconcile.ts"

/** A problem as listed in an issue at the host. */
export interface Section extends ExistingProblem {
  readonly title: string
  readonly text: string
  readonly code: string | undefined
  /** Undefined in the issues of earlier versions. */
  readonly severity: Severity | undefined
  readonly issue: HostIssue
}

export interface ManagedIssue {
  readonly issue: HostIssue
  /** Subject of the issue: a problem's fingerprint, a commit, or `all`. */
  readonly key: string
  readonly sections: ReadonlyArray<Section>
}

/** An issue that a person closed counts as dismissed; one that the service closed has its marker. */
const toState = (issue: HostIssue): Section["state"] =>
  issue.state === "open"
    ? "open"
    : parseMarkers(issue.body).some((marker) => marker.state === "resolved")
      ? "resolved"
      : "dismissed"

/** Parses a managed issue of `scope`; undefined for any other issue. */
export const parseManagedIssue = (issue: HostIssue, scope: string): ManagedIssue | undefined => {
  const parts = splitAtMarkers(issue.body).filter(({ marker }) => marker.scope === scope)
  const key = parts[0]?.marker.fp
  if (key === undefined) return undefined
  const state = toState(issue)
  const sections = parts.flatMap(({ text, marker: { fp, file, code, severity, state: own } }) =>
    fp === undefined || file === undefined || own === "gone"
      ? []
      : [{ fp, files: [file], code, severity, state, title: issue.title, text, issue }]
  )
  return { issue, key, sections }
}

/** Returns true for an issue that the service marked as resolved; it may still be open. */
export const isMarkedResolved = (issue: HostIssue): boolean =>
  parseMarkers(issue.body).some((marker) => marker.state === "resolved")

/** Returns what people wrote below the problems of an issue, without the notes of the service that follow it. */
export const readNotes = (body: string): string => {
  const below = splitAtMarkers(body).flatMap(({ marker: { file, fp, state }, text }) =>
    file === undefined && fp === undefined && state !== undefined ? [text.split("\n\n").slice(0, -1).join("\n\n")] : []
  )
  return [...below, textBelowMarkers(body) ?? ""].filter((text) => text !== "").join("\n\n")
}

export interface MarkerNames {
  readonly op: OperationId
  readonly scope: string
}

type ProblemText = Pick<IssueProblem, "fp" | "file" | "code" | "text"> & Partial<Pick<Section, "severity">>

const renderSection = ({ fp, file, code, severity, text }: ProblemText, { op, scope }: MarkerNames): string =>
  `${text}\n\n${renderMarker({ op, fp, scope, file, code, severity })}`

/** Maximum length of a problem's text when not all texts fit. */
const maxShortenedLength = 200

/** Renders the body of an issue with one problem. */
export const renderProblemBody = (problem: ProblemText, names: MarkerNames, limit: number, notice: string): string =>
  cut(renderSection(problem, names), limit, notice)

/** Renders the body of an issue with several problems. If they do not fit, the last ones are reduced to their first line. */
export const renderJoinedBody = (
  key: string,
  heading: string,
  problems: ReadonlyArray<ProblemText>,
  names: MarkerNames,
  limit: number,
  notice: string
): string => {
  const head = `${heading}\n\n${renderMarker({ op: names.op, fp: key, scope: names.scope })}`
  const whole = problems.map((problem) => renderSection(problem, names))
  const short = problems.map((problem) =>
    renderSection({ ...problem, text: shorten(problem.text.split("\n")[0] ?? "", maxShortenedLength) }, names)
  )
  for (let full = problems.length; full >= 0; full -= Math.max(1, Math.floor(full / 8))) {
    const body = [head, ...whole.slice(0, full), ...short.slice(full)].join("\n\n")
    if (body.length <= limit || full === 0) return cut(body, limit, notice)
  }
  return cut(head, limit, notice)
}

/** Appends the note about the state of the problems, and the marker that shows that the service wrote it. */
export const renderResolvedBody = (
  body: string,
  note: string,
  { op, scope }: MarkerNames,
  limit: number,
  notice: string,
  state: "resolved" | "dismissed" | "withdrawn" | "open" = "resolved"
): string => cut(`${body}\n\n${note}\n\n${renderMarker({ op, scope, state })}`, limit, notice)

/**
 * The body of a managed issue: an optional heading with the issue's own marker, then each problem's text followed by its marker. What
 * an issue is about is read back from its markers, so the host keeps the ledger and a lost database loses nothing. Pure.
 */
import type { OperationId } from "../domain/Keys.ts"
import type { IssueProblem } from "../domain/Publication.ts"
import type { HostIssue } from "../forge/Forge.ts"
import { cut, shorten } from "./Cut.ts"
import { marked, parseMarkers, renderMarker } from "./Marker.ts"
import type { Standing } from "./Reconcile.ts"

/** A problem as an issue at the host shows it. */
export interface Section extends Standing {
  readonly title: string
  readonly text: string
  readonly issue: HostIssue
}

export interface Managed {
  readonly issue: HostIssue
  /** What the issue stands for: a problem's fingerprint, a commit, or everything. */
  readonly key: string
  readonly sections: ReadonlyArray<Section>
}

/** Closed by a person means dismissed; closed by us carries our mark. */
const stateOf = (issue: HostIssue): Section["state"] =>
  issue.state === "open"
    ? "open"
    : parseMarkers(issue.body).some((marker) => marker.state === "resolved")
      ? "resolved"
      : "dismissed"

/** The issue as one of `scope`, or undefined. */
export const managed = (issue: HostIssue, scope: string): Managed | undefined => {
  const parts = marked(issue.body).filter(({ marker }) => marker.scope === scope)
  const key = parts[0]?.marker.fp
  if (key === undefined) return undefined
  const state = stateOf(issue)
  const sections = parts.flatMap(({ text, marker: { fp, file } }) =>
    fp === undefined || file === undefined ? [] : [{ fp, files: [file], state, title: issue.title, text, issue }]
  )
  return { issue, key, sections }
}

/** An issue that we marked as resolved but left open says so here. */
export const isMarkedResolved = (issue: HostIssue): boolean =>
  parseMarkers(issue.body).some((marker) => marker.state === "resolved")

export interface Names {
  readonly op: OperationId
  readonly scope: string
}

type Shown = Pick<IssueProblem, "fp" | "text"> & { readonly file: string }

const section = ({ fp, file, text }: Shown, { op, scope }: Names): string =>
  `${text}\n\n${renderMarker({ op, fp, scope, file })}`

/** Longest text of a problem that had to make room for others. */
const shortest = 200

/** Of one problem. */
export const problemBody = (problem: Shown, names: Names, limit: number, notice: string): string =>
  cut(section(problem, names), limit, notice)

/** Of several. When they do not fit, the last ones keep only their first line. */
export const joinedBody = (
  key: string,
  heading: string,
  problems: ReadonlyArray<Shown>,
  names: Names,
  limit: number,
  notice: string
): string => {
  const head = `${heading}\n\n${renderMarker({ op: names.op, fp: key, scope: names.scope })}`
  const whole = problems.map((problem) => section(problem, names))
  const short = problems.map((problem) =>
    section({ ...problem, text: shorten(problem.text.split("\n")[0] ?? "", shortest) }, names)
  )
  for (let full = problems.length; full >= 0; full -= Math.max(1, Math.floor(full / 8))) {
    const body = [head, ...whole.slice(0, full), ...short.slice(full)].join("\n\n")
    if (body.length <= limit || full === 0) return cut(body, limit, notice)
  }
  return cut(head, limit, notice)
}

/** A body with the note that its problems are gone, and the mark by which we know that it was us who said so. */
export const resolvedBody = (body: string, note: string, { op, scope }: Names, limit: number, notice: string): string =>
  cut(`${body}\n\n${note}\n\n${renderMarker({ op, scope, state: "resolved" })}`, limit, notice)

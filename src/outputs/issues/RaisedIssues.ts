/**
 * Issues that earlier reviews of a change raised and that the host does not list as the service wrote them. The records of the service name
 * them; they are read only if a review has problems that no listed issue has. An issue that is gone was deleted, which is a dismissal. One
 * whose text a person replaced belongs to that person: its problems are not raised again, and it is not changed.
 */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { IssueProblem, Publication } from "../../domain/Publication.ts"
import type { ForgeClient, HostIssue } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { parseManagedIssue } from "./IssueText.ts"
import { parseMarkers } from "../Marker.ts"

/** Maximum number of issues that one review reads. */
const maxReads = 50

interface Lists {
  readonly open: ReadonlyArray<HostIssue>
  readonly closed: ReadonlyArray<HostIssue>
}

/** Returns the problems of each issue by the newest record of its text, without issues that the service deleted. */
const readRecords = (rows: ReadonlyArray<Publication>, scope: string): ReadonlyMap<number, ReadonlySet<string>> => {
  const problems = new Map<number, ReadonlySet<string>>()
  for (const { hostId, operation } of rows) {
    if (operation._tag !== "Issue") continue
    const { action, body } = operation
    const number = operation.number ?? Number(hostId)
    if (problems.has(number) || (action !== "delete" && body === undefined)) continue
    const own = action === "delete" ? [] : parseMarkers(body ?? "").filter((marker) => marker.scope === scope)
    problems.set(number, new Set(own.flatMap(({ file, fp }) => (file === undefined || fp === undefined ? [] : [fp]))))
  }
  return problems
}

/** `rows`: what earlier reviews sent, the newest first. Returns the lists with issues that they lack, and problems that are not raised. */
export const withRaised = Effect.fnUntraced(function* (
  { issues }: ForgeClient,
  repo: Repo,
  scope: string,
  { closed, open }: Lists,
  problems: ReadonlyArray<IssueProblem>,
  rows: Effect.Effect<ReadonlyArray<Publication>, ForgeError>
): Effect.fn.Return<Lists & { readonly taken: ReadonlySet<string> }, ForgeError> {
  const listed = [...open, ...closed]
  const known = new Set(
    listed.flatMap((issue) => (parseManagedIssue(issue, scope)?.sections ?? []).map(({ fp }) => fp))
  )
  const wanted = problems.map(({ fp }) => fp).filter((fp) => !known.has(fp))
  const found: Array<HostIssue> = []
  const taken = new Set<string>()
  const recorded = wanted.length === 0 ? [] : [...readRecords(yield* rows, scope)]
  const concerned = recorded.filter(([, own]) => wanted.some((fp) => own.has(fp))).slice(0, maxReads)
  for (const [number, own] of concerned) {
    const existing = listed.find((issue) => issue.number === number)
    if (existing !== undefined && parseManagedIssue(existing, scope) !== undefined) continue
    const read =
      existing === undefined
        ? yield* Effect.catchIf(
            issues.read(repo, number),
            ({ reason }) => reason === "not_found" || reason === "forbidden",
            () => Effect.undefined
          )
        : undefined
    const issue: HostIssue | undefined = read && {
      ...read,
      number,
      hostId: String(number),
      url: undefined,
      comments: 1
    }
    if (issue !== undefined && parseManagedIssue(issue, scope) !== undefined) found.push(issue)
    else for (const fp of own) taken.add(fp)
  }
  return {
    open: [...open, ...found.filter(({ state }) => state === "open")],
    closed: [...closed, ...found.filter(({ state }) => state === "closed")],
    taken
  }
})

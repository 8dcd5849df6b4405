/** Decides about issues that were opened and that no delivery reported, where workspaces triage issues and the host's are triaged. */
import { Effect } from "effect"
import { deliveryKey } from "../../src/domain/Keys.ts"
import type { HostOwner, OpenIssue } from "../../src/forge/Forge.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import {
  admitFound,
  clockMillis,
  decideFound,
  foundFacts,
  keyOfTarget,
  overlapMillis,
  selectRecent
} from "./HostSearch.ts"
import type { HostSearch } from "./HostSearch.ts"
import { scopeOfIssues } from "./Sources.ts"

/** Issues that are read of one list, and records of one issue. */
const maxListed = 2000
const maxRecords = 20

const isTriaged = ({ snapshot }: HostSearch): boolean =>
  [...snapshot.workspaces.values()].some(
    ({ enabled, triage }) => enabled && triage.enabled && triage.events.includes("issues")
  )

const decideIssue = Effect.fnUntraced(function* (search: HostSearch, issue: OpenIssue) {
  const { author, number, repo, title, url } = issue
  const target = { kind: "issue", number } as const
  const key = keyOfTarget(search, { repo, target })
  const records = yield* (yield* Receipts).list({ trigger: search.trigger.name, targetKey: key, limit: maxRecords })
  if (records.some(({ work }) => work !== undefined)) return
  const facts = foundFacts(search, { repo, target, head: undefined }, { author: author?.username, title })
  const event = { _tag: "IssueChanged", ...facts, sender: author, number, title, url } as const
  const admitted = yield* admitFound(search, event)
  if (admitted.accepted) yield* decideFound(search, event, deliveryKey("catch-up", key), admitted.workspace.id)
})

/** Returns the issues that were opened after the first search, oldest first. Those that are too old or too many are counted. */
const select = (search: HostSearch, issues: ReadonlyArray<OpenIssue>, first: number): ReadonlyArray<OpenIssue> => {
  const opened = issues.filter(({ createdAt }) => createdAt > first)
  return selectRecent(
    search,
    opened.toSorted((a, b) => b.createdAt - a.createdAt)
  )
}

/** `known`: the time of the latest update that earlier searches have read; undefined in the first search of the owner. */
export const findIssues = Effect.fnUntraced(function* (
  search: HostSearch,
  owner: HostOwner,
  known: CatchUpMark | undefined
) {
  const { client, now, tally, trigger } = search
  const { issues: list } = client.changes
  if (list === undefined || !isTriaged(search)) return
  const { mark } = yield* CatchUps
  const earliest = now - clockMillis
  const since = known === undefined ? earliest : known.mark - overlapMillis
  const { issues, more } = yield* list(owner, since, maxListed)
  if (known !== undefined) {
    tally.skipped += more
    for (const issue of select(search, issues, known.first)) yield* decideIssue(search, issue)
  }
  const newest = Math.max(earliest, ...issues.map(({ updatedAt }) => updatedAt))
  if (known === undefined || newest > known.mark)
    yield* mark({ trigger: trigger.name, scope: scopeOfIssues(owner.name), mark: newest })
})

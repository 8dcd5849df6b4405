/** Decides about pushes to the reviewed branches of a repository that no delivery reported. */
import { Effect } from "effect"
import { noCommit } from "../../src/domain/Change.ts"
import type { Repo } from "../../src/domain/Change.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import type { BranchTip } from "../../src/forge/Forge.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { admitFound, decideFound, foundFacts, keyOfTarget } from "./HostSearch.ts"
import type { HostSearch } from "./HostSearch.ts"
import { scopeOfBranches } from "./Sources.ts"

/** Commits of a push without an earlier head, or whose earlier head the host has no more. */
const uncounted = { commits: 1, listed: [] }

const readPushed = ({ client }: HostSearch, repo: Repo, before: string | undefined, head: string) =>
  before === undefined
    ? Effect.succeed(uncounted)
    : Effect.catchIf(
        client.changes.pushed(repo, before, head),
        ({ reason }) => reason === "not_found" || reason === "invalid",
        () => Effect.succeed(uncounted)
      )

/** `known`: the tips that earlier searches have seen; undefined in the first search of the repository. */
const decideTip = Effect.fnUntraced(function* (
  search: HostSearch,
  fullName: string,
  { branch, head }: BranchTip,
  known: CatchUpMark["tips"]
) {
  const seen = known?.[branch]
  if (seen === head) return
  const repo = { fullName }
  const target = { kind: "push", branch } as const
  const key = keyOfTarget(search, { repo, target })
  const [newest] = yield* (yield* Receipts).list({ trigger: search.trigger.name, targetKey: key, limit: 1 })
  if (newest?.facts.head === head || (newest === undefined && known === undefined)) return
  const before = newest?.facts.head ?? seen
  const event = {
    _tag: "Pushed",
    ...foundFacts(search, { head, repo, target }, { branch }),
    branch,
    before: before ?? noCommit,
    after: head,
    created: before === undefined,
    ...(yield* readPushed(search, repo, before, head))
  } as const
  const admitted = yield* admitFound(search, event)
  if (!admitted.accepted) return
  yield* decideFound(search, event, deliveryKey("catch-up", `${key}:${event.before}:${head}`), admitted.workspace.id)
})

/** Searches branches of a repository. The tips that were decided about are stored, so that a later search compares with them. */
export const findPushes = Effect.fnUntraced(function* (
  search: HostSearch,
  fullName: string,
  branches: ReadonlySet<string>,
  mark: CatchUpMark | undefined
) {
  const tips = yield* Effect.catchIf(
    search.client.changes.tips({ fullName }, [...branches]),
    ({ reason }) => reason === "not_found" || reason === "forbidden",
    // Its deliveries end, too.
    () => Effect.succeed(undefined)
  )
  if (tips === undefined) return
  for (const tip of tips) yield* decideTip(search, fullName, tip, mark?.tips)
  const found = Object.fromEntries(tips.map(({ branch, head }) => [branch, head]))
  const isSame = mark !== undefined && tips.every(({ branch, head }) => mark.tips?.[branch] === head)
  if (isSame && Object.keys(mark.tips ?? {}).length === tips.length) return
  const scope = scopeOfBranches(fullName)
  yield* (yield* CatchUps).mark({ trigger: search.trigger.name, scope, mark: search.now, tips: found })
})

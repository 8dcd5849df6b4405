/** Decides about pushes to the reviewed branches of a repository that no delivery reported. */
import { Effect } from "effect"
import { admit } from "../../src/admission/Admit.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Repo } from "../../src/domain/Change.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import type { BranchTip } from "../../src/forge/Forge.ts"
import { OwnAccounts } from "../../src/forge/OwnAccounts.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { decideFound, foundFacts } from "./HostLook.ts"
import type { HostLook } from "./HostLook.ts"
import { scopeOfBranches } from "./Sources.ts"

/** Value of `before` of a new branch. */
const noCommit = "0".repeat(40)

/** What is known of a push whose earlier head the host has no more, or that has none. */
const uncounted = { commits: 1, listed: [] }

const readPushed = ({ client }: HostLook, repo: Repo, before: string | undefined, head: string) =>
  before === undefined
    ? Effect.succeed(uncounted)
    : Effect.catchIf(
        client.changes.pushed(repo, before, head),
        ({ reason }) => reason === "not_found" || reason === "invalid",
        () => Effect.succeed(uncounted)
      )

/** `known`: the tips that earlier looks have seen; undefined at the first look at the repository. */
const decideTip = Effect.fnUntraced(function* (
  look: HostLook,
  fullName: string,
  { branch, head }: BranchTip,
  known: CatchUpMark["tips"]
) {
  const { now, snapshot, trigger } = look
  const seen = known?.[branch]
  if (seen === head) return
  const repo = { fullName }
  const target = { kind: "push", branch } as const
  const key = targetKey({ trigger: trigger.name, workspace: "", repo, target })
  const [newest] = yield* (yield* Receipts).list({ trigger: trigger.name, targetKey: key, limit: 1 })
  if (newest?.facts.head === head || (newest === undefined && known === undefined)) return
  const before = newest?.facts.head ?? seen
  const event = {
    _tag: "Pushed",
    ...foundFacts(look, { head, repo, target }, { branch }),
    branch,
    before: before ?? noCommit,
    after: head,
    created: before === undefined,
    ...(yield* readPushed(look, repo, before, head))
  } as const
  const admitted = admit({ snapshot, verified: [trigger], event, ownAccount: (yield* OwnAccounts).of, now })
  if (!admitted.accepted) return
  yield* decideFound(look, event, deliveryKey("catch-up", `${key}:${event.before}:${head}`), admitted.workspace.id)
})

/** Looks at branches of a repository. What was decided is stored, so that a later look compares with it. */
export const findPushes = Effect.fnUntraced(function* (
  look: HostLook,
  fullName: string,
  branches: ReadonlySet<string>,
  mark: CatchUpMark | undefined
) {
  const tips = yield* look.client.changes.tips({ fullName }, [...branches])
  for (const tip of tips) yield* decideTip(look, fullName, tip, mark?.tips)
  const found = Object.fromEntries(tips.map(({ branch, head }) => [branch, head]))
  const isSame = mark !== undefined && tips.every(({ branch, head }) => mark.tips?.[branch] === head)
  if (isSame && Object.keys(mark.tips ?? {}).length === tips.length) return
  const scope = scopeOfBranches(fullName)
  yield* (yield* CatchUps).mark({ trigger: look.trigger.name, scope, mark: look.now, tips: found })
})

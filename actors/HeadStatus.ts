/** Reads the verdicts about the head of a run: for the status of its commit, and for an approval of its change. */
import { Effect } from "effect"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { Snapshot } from "../src/config/Snapshot.ts"
import { hostTrigger } from "../src/domain/Change.ts"
import { describeHeld, findObjection, headStatus } from "../src/domain/HeadVerdict.ts"
import type { HeadVerdict } from "../src/domain/HeadVerdict.ts"
import type { Operation } from "../src/domain/Publication.ts"
import { runUrl } from "../src/domain/RunLink.ts"
import { Runs } from "../src/store/Runs.ts"
import type { Run } from "../src/store/Runs.ts"

export type StatusOperation = Extract<Operation, { readonly _tag: "Status" }>

const ownRun = ({ change, id, targetKey }: Run) => ({ runId: id, targetKey, baseRef: change.baseRef })

const numberSign = ({ change }: Pick<Run, "change">): "#" | "!" => (change.provider === "gitlab" ? "!" : "#")

/** Reads the verdicts about a head at the host of a run. Those of a trigger that is no longer configured count: its host is unknown. */
export const readVerdicts = Effect.fnUntraced(function* (run: Pick<Run, "change" | "head">, snapshot: Snapshot) {
  const current = (yield* ConfigStore).current()
  const host = snapshot.triggers.get(hostTrigger(run.change))?.baseUrl
  const verdicts = yield* (yield* Runs).headVerdicts(run.head, run.change.repo.fullName)
  const isOtherHost = ({ trigger }: HeadVerdict): boolean => {
    const profile = snapshot.triggers.get(trigger) ?? current.triggers.get(trigger)
    return profile !== undefined && profile.baseUrl !== host
  }
  return verdicts.filter((verdict) => !isOtherHost(verdict))
})

/** Returns the status to write in place of the planned one, and whether it is the verdict of another pull request or base branch. */
export const currentStatus = Effect.fnUntraced(function* (run: Run, snapshot: Snapshot, planned: StatusOperation) {
  const { heldBy, status } = headStatus(ownRun(run), planned, yield* readVerdicts(run, snapshot), numberSign(run))
  if (heldBy === undefined) return { status, isHeld: false }
  const { url: _url, ...held } = status
  const url = runUrl(snapshot.document.server, heldBy.runId)
  return { status: url === undefined ? held : { ...held, url }, isHeld: true }
})

/** Returns the reason for which the request for changes stays: the head is not clean in another pull request or base branch. */
export const readObjection = Effect.fnUntraced(function* (run: Run, snapshot: Snapshot) {
  const other = findObjection(ownRun(run), yield* readVerdicts(run, snapshot))
  return other === undefined
    ? undefined
    : `the request for changes stays, because of the same commit: ${describeHeld(other, numberSign(run))}`
})

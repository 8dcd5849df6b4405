/** Admissions for the queue's tests. */
import type { Change } from "../../src/domain/Change.ts"
import { newId } from "../../src/domain/Ids.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { ExpiryCutoffs } from "../../src/queue/ExpiryCutoffs.ts"
import type { QueueAdmission } from "../../src/queue/Queue.ts"

export const change = (number: number, head: string | undefined, workspace = "app"): Change => ({
  provider: "gitea",
  trigger: "main",
  workspace,
  repo: { fullName: `acme/${workspace}` },
  target: { kind: "pull_request", number },
  ...(head === undefined ? {} : { head })
})

/** Returns an admission, admitted and due at 100, of the given target. */
export const admission = (
  over: Partial<QueueAdmission> & { readonly number?: number; readonly head?: string; readonly workspace?: string } = {}
): QueueAdmission => {
  const { number = 1, head, workspace, ...rest } = over
  return {
    eventId: newId(),
    change: change(number, head, workspace),
    configHash: "c0ffee",
    priority: 10,
    admittedAt: 100,
    dueAt: 100,
    ...rest
  }
}

export const toTarget = (number: number, workspace = "app") =>
  TargetKey.make(`main:acme/${workspace}:pull_request:${number}`)

/** The same time for every workspace. */
export const before = (others: number): ExpiryCutoffs => ({ workspaces: new Map(), others })

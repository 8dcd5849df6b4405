/** Builds the replacement of an entry that cannot be read: a dead one with the reason and the readable fields. */
import type { Entry } from "../../domain/Entry.ts"
import { noLease } from "../../domain/FencingToken.ts"
import type { Reason } from "../../domain/Reason.ts"

interface Remains extends Pick<Entry, "id" | "workspace" | "targetKey" | "events" | "admittedAt"> {
  /** Full name of the repository. */
  readonly repo: string
}

/** Returns the reason of a dead entry. `what` names the unreadable object. */
export const quarantineReason = (what: string, why: string): Reason => ({
  _tag: "Quarantined",
  what,
  why: why.slice(0, 200)
})

export const isQuarantined = ({ reason, status }: Pick<Entry, "reason" | "status">): boolean =>
  status === "dead" && reason?._tag === "Quarantined"

export const quarantinedEntry = ({ repo, ...known }: Remains, what: string, why: string): Entry => ({
  ...known,
  change: {
    provider: "manual",
    trigger: "",
    workspace: known.workspace,
    repo: { fullName: repo },
    target: { kind: "manual" }
  },
  configHash: "",
  priority: 0,
  status: "dead",
  dueAt: known.admittedAt,
  attempts: 0,
  losses: 0,
  expires: false,
  reason: quarantineReason(what, why),
  token: noLease,
  leaseUntil: undefined,
  owner: undefined,
  awaitsModel: false,
  cancelRequested: undefined
})

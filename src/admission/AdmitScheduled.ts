/** What a scheduled trigger starts when it fires: one review per repository that it lists. Pure; reasons as for webhooks. */
import type { ScheduledRepository } from "../config/schema/Triggers.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import { Priority } from "../domain/Entry.ts"
import type { Admission, Refusal } from "./Admit.ts"
import { bindHost } from "./BindHost.ts"

/** A repository of a trigger, as the record of its fires knows it. */
export const scheduleId = (trigger: TriggerProfile, { branch, repo }: ScheduledRepository): string =>
  JSON.stringify([trigger.name, repo, branch ?? null])

/** Head and base are looked up when the review runs: the newest state counts. */
export const admitScheduled = (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  { branch, repo }: ScheduledRepository,
  now: number
): Admission | Refusal => {
  const selection = bindHost(snapshot, { trigger, repo, branch })
  if (selection._tag === "Unbound") {
    return {
      accepted: false,
      reason: selection.reason,
      trigger,
      workspace: selection.workspace,
      closes: undefined
    }
  }
  const { host, workspace } = selection.binding
  const change: Change = {
    provider: "scheduled",
    trigger: trigger.name,
    host: host.name,
    workspace: workspace.id,
    repo: { fullName: repo },
    target: { kind: "scheduled", branch },
    headRef: branch
  }
  return {
    accepted: true,
    trigger,
    workspace,
    change,
    configHash: snapshot.hash,
    priority: Priority.automatic,
    dueAt: now,
    command: undefined
  }
}

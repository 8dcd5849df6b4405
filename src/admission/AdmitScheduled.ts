/**
 * Returns the work of a scheduled trigger when it fires: one review per repository that it lists. Pure; the reasons are those of webhooks.
 */
import type { ScheduledRepository } from "../config/schema/Triggers.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import { Priority } from "../domain/Entry.ts"
import type { Admission, Refusal } from "./Admit.ts"
import { bindHost } from "./BindHost.ts"
import { describeBinding, describeRoute } from "./DescribeRoute.ts"

/** Returns the key under which the fires of a trigger's repository are recorded. */
export const scheduleId = (trigger: TriggerProfile, { branch, repo }: ScheduledRepository): string =>
  JSON.stringify([trigger.name, repo, branch ?? null])

/** Leaves head and base open; they are read when the review runs, so that the newest state counts. */
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
      rule: describeRoute(selection.reason, {
        repo,
        branch,
        trigger,
        workspace: selection.workspace,
        candidates: selection.candidates
      }),
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
    rule: describeBinding(selection.binding, repo),
    trigger,
    workspace,
    change,
    configHash: snapshot.hash,
    priority: Priority.automatic,
    dueAt: now,
    request: undefined
  }
}

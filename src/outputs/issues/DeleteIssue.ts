/** Deletes a managed issue whose problem is gone. Some hosts let only administrators do this: the issue is then closed. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { limitWarning } from "../../observability/LimitedWarnings.ts"

/** `body`: text of the issue if it is closed. */
export const deleteIssue = (
  { issues }: ForgeClient,
  repo: Repo,
  { body, channel, number }: { readonly number: number; readonly body: string | undefined; readonly channel: string }
): Effect.Effect<HostWrite, ForgeError, Writing> =>
  Effect.map(issues.remove(repo, number), (): HostWrite => ({ hostId: String(number), url: undefined })).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "forbidden",
      Effect.fnUntraced(function* ({ why }: ForgeError) {
        yield* limitWarning(
          "issues that the account may not delete",
          (suppressed) =>
            Effect.logWarning("issue closed because the account may not delete it", {
              channel,
              number,
              why,
              suppressed
            }),
          channel
        )
        return yield* issues.edit(repo, number, { body, state: "closed" })
      })
    )
  )

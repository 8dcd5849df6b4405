/** Parts of outputs that plan, find and change nothing, for tests that are about what is sent. */
import { Effect } from "effect"
import type { Outputs } from "../../../src/outputs/Outputs.ts"

export const quietOutputs = {
  mayDismiss: () => Effect.succeed(false),
  dismiss: () => Effect.succeed("not_published"),
  mark: () => Effect.succeed(0),
  anyFor: () => true,
  plan: () => [],
  issueCode: () => Effect.succeed([]),
  reactions: () => Effect.succeed([])
} satisfies Partial<Outputs["Service"]>

/** A checkout without files, for checks of agents that read none. */
import { Effect, Stream } from "effect"
import type { Brief } from "../Agent.ts"
import { CheckoutError } from "../../vcs/Checkout.ts"

const none = new CheckoutError({ reason: "missing", why: { _tag: "CheckWithoutRepository" } })
const noPaths = { paths: [], more: false }
const noFiles = { files: [], more: false }

export const emptyCheckout: Pick<Brief, "checkout" | "code"> = {
  checkout: {
    directory: Effect.fail(none),
    head: "0".repeat(40),
    from: "0".repeat(40),
    changes: () => Effect.succeed([]),
    sizes: () => Effect.succeed([]),
    diff: () => Stream.empty,
    file: () => Effect.undefined,
    list: () => Effect.succeed([]),
    blame: () => Effect.succeed([]),
    search: { filesWith: () => Effect.succeed(noPaths), filesUnder: () => Effect.succeed(noPaths) }
  },
  code: {
    lines: () => Effect.succeed(noFiles),
    references: () => Effect.succeed(noFiles),
    paths: () => Effect.succeed(noPaths)
  }
}

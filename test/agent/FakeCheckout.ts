/** A checkout of files in memory, for tests that only read files and blame. */
import { Effect, Stream } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import type { CodeSearch } from "../../src/agent/CodeSearch.ts"
import { CheckoutError } from "../../src/vcs/Checkout.ts"
import type { Checkout } from "../../src/vcs/Checkout.ts"
import { noSearch } from "../harness/NoSearch.ts"

export const fakeCheckout = (files: Readonly<Record<string, string>>): Checkout => ({
  directory: Effect.succeed("/nowhere"),
  head: "1".repeat(40),
  from: "2".repeat(40),
  changes: () => Effect.succeed([]),
  sizes: () => Effect.succeed([]),
  diff: () => Stream.empty,
  file: (path, _at, maxBytes) => {
    const content = Object.hasOwn(files, path) ? files[path] : undefined
    return Effect.succeed(content === undefined || content.length > maxBytes ? undefined : content)
  },
  list: () => Effect.succeed([]),
  blame: (path, start, end) =>
    Object.hasOwn(files, path)
      ? Effect.succeed(
          Array.from({ length: end - start + 1 }, (_, at) => ({
            line: start + at,
            commit: "abcdef0123456789",
            author: "Ada",
            time: 1_700_000_000
          }))
        )
      : Effect.fail(new CheckoutError({ reason: "missing", why: verbatimReason(`no file ${path}`) })),
  search: noSearch
})

/** Searches that find nothing. */
export const fakeCode: CodeSearch = {
  lines: () => Effect.succeed({ files: [], more: false }),
  references: () => Effect.succeed({ files: [], more: false }),
  paths: () => Effect.succeed({ paths: [], more: false })
}

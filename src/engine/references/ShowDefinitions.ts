/**
 * The function or class that a hunk changes, shown with it: its name as the hunk's section, and its lines while there is room. In
 * languages that have a grammar here; elsewhere hunks stay as git prints them.
 */
import { Effect } from "effect"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { definitionsAt } from "../syntax/Definitions.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { DefinitionTarget } from "../work/DefinitionWork.ts"

/** Files that are parsed for one change; the first ones. */
const maxFiles = 200
const maxFileBytes = 1_048_576

/** Read and parsed at the same time. */
const atOnce = 4

/** Lines of definitions take at most `room` tokens; without room hunks only get their names. */
export const showDefinitions = Effect.fn("showDefinitions")(function* (
  change: ChangeThread,
  checkout: Checkout,
  room: number
): Effect.fn.Return<void, CheckoutError | AnalysisError> {
  yield* change.run("beginDefinitions", room)
  let at = 0
  for (; at < maxFiles; at += atOnce) {
    const targets = yield* change.run("definitionTargets", at, atOnce)
    if (targets.length === 0) break
    const found = yield* Effect.forEach(targets, (target) => definitionsOf(checkout, target), { concurrency: atOnce })
    yield* change.run("showDefinitions", at, found)
  }
  yield* change.run("showAll", at)
})

const definitionsOf = Effect.fnUntraced(function* (checkout: Checkout, target: DefinitionTarget | undefined) {
  const text = target === undefined ? undefined : yield* checkout.file(target.path, "head", maxFileBytes)
  if (text === undefined || target === undefined) return undefined
  return { text, chains: yield* definitionsAt(checkout, target.path, text, target.lines) }
})

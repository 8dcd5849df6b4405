/**
 * The function or class that a hunk changes, shown with it: its name as the hunk's section, and its lines while there is room. In
 * languages that have a grammar here; elsewhere hunks stay as git prints them.
 */
import { Effect } from "effect"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { definitionsAround } from "../syntax/Definitions.ts"
import { inMessages, messageItems } from "../threads/Messages.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { DefinitionTarget } from "../work/DefinitionWork.ts"

/** Files that are parsed for one change; the first ones. */
const maxFiles = 200
const maxFileBytes = 1_048_576

/** Lines of definitions take at most `room` tokens; without room hunks only get their names. */
export const showDefinitions = Effect.fn("showDefinitions")(function* (
  change: ChangeThread,
  checkout: Checkout,
  room: number
): Effect.fn.Return<void, CheckoutError | AnalysisError> {
  yield* change.run("beginDefinitions", room)
  let at = 0
  while (at < maxFiles) {
    const targets = yield* change.run("definitionTargets", at, messageItems)
    for (const found of inMessages(yield* readTargets(checkout, targets), (file) => file?.text.length ?? 0)) {
      yield* change.run("showDefinitions", at, yield* addChains(checkout, found))
      at += found.length
    }
    if (targets.length < messageItems) break
  }
  yield* change.run("showAll", at)
})

const readTargets = (checkout: Checkout, targets: ReadonlyArray<DefinitionTarget | undefined>) =>
  Effect.forEach(
    targets,
    (target) =>
      target === undefined
        ? Effect.undefined
        : Effect.map(checkout.file(target.path, "head", maxFileBytes), (text) =>
            text === undefined ? undefined : { ...target, text }
          ),
    { concurrency: messageItems }
  )

const addChains = Effect.fnUntraced(function* (
  checkout: Checkout,
  files: ReadonlyArray<(DefinitionTarget & { readonly text: string }) | undefined>
) {
  const chains = (yield* definitionsAround(
    checkout,
    files.filter((file) => file !== undefined)
  )).values()
  return files.map((file) => (file === undefined ? undefined : { text: file.text, chains: chains.next().value ?? [] }))
})

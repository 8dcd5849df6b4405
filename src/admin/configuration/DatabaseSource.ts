/** The editor of the database's configuration, where the configuration file enables it. */
import { Effect, Option } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { ConfigEditor } from "../../config/revisions/ConfigEditor.ts"
import { ConfigNotFound } from "../api/ConfigProblems.ts"
import { because } from "../api/Problems.ts"

/** Returns undefined if the database is disabled, or this process has no editor. */
export const findEditor = Effect.gen(function* () {
  const { layered } = yield* ConfigStore
  const editor = yield* Effect.serviceOption(ConfigEditor)
  return layered() === undefined ? undefined : Option.getOrUndefined(editor)
})

const disabled = new ConfigNotFound({
  code: "database_source_disabled",
  ...because({ _tag: "DatabaseSourceDisabled" })
})

export const requireEditor = Effect.flatMap(findEditor, (editor) =>
  editor === undefined ? Effect.fail(disabled) : Effect.succeed(editor)
)

/** Defines the flags that select configuration and model of the engine on this machine. */
import { Option } from "effect"
import { Flag } from "effect/cli"
import { fileOnlyFlag } from "../ConfigFlag.ts"
import type { LocalConfigOptions } from "./LocalConfig.ts"

export const engineFlags = {
  config: Flag.String("config").pipe(
    Flag.withAlias("c"),
    Flag.withMetavar("FILE"),
    Flag.withDescription("Configuration file (YAML). Without it, API keys in the environment select the model"),
    Flag.optional
  ),
  workspace: Flag.String("workspace").pipe(
    Flag.withMetavar("ID"),
    Flag.withDescription("Workspace of the configuration whose settings to use, where it has several"),
    Flag.optional
  ),
  model: Flag.String("model").pipe(
    Flag.withMetavar("PROVIDER/MODEL"),
    Flag.withDescription("Model to use instead of the configured ones"),
    Flag.optional
  ),
  fileOnly: fileOnlyFlag
}

/** Returns the values of the flags. */
export const engineOptions = (given: {
  readonly [K in keyof LocalConfigOptions]: K extends "fileOnly" ? boolean : Option.Option<string>
}): LocalConfigOptions => ({
  config: Option.getOrUndefined(given.config),
  workspace: Option.getOrUndefined(given.workspace),
  model: Option.getOrUndefined(given.model),
  fileOnly: given.fileOnly
})

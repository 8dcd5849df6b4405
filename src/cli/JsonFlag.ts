import { Flag } from "effect/cli"

/** Defines `--json`, the same for every command that prints one document. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Print one JSON document")
)

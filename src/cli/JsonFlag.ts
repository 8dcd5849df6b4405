import { Flag } from "effect/cli"

/** `--json`, the same for every command that prints one document. */
export const jsonFlag = Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("One JSON document"))

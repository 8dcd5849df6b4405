/** Defines `--config`, the same for every command that needs a configuration. */
import { Flag } from "effect/cli"

const file = Flag.String("config").pipe(Flag.withAlias("c"), Flag.withMetavar("FILE"))

/** Defines the flag with a description: `about` follows the words "Configuration file (YAML)". */
export const configFlagAbout = (about: string) =>
  file.pipe(
    Flag.withDescription(`Configuration file (YAML)${about}. Default: config.yaml`),
    Flag.withDefault("config.yaml")
  )

export const configFlag = configFlagAbout("")

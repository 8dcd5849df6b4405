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

/** Defines `--file-only`, the same for every command that uses the effective configuration. */
export const fileOnlyFlag = Flag.Boolean("file-only").pipe(
  Flag.withDefault(false),
  Flag.withDescription(
    "Use the configuration file alone. Default: also the newest revision of the database, if the file enables it"
  )
)

/**
 * Settings that a repository chooses for its reviews, in a file of its protected base branch, as far as `repository_settings` of its workspace
 * permits.
 */
import { Schema } from "effect"
import { Severity } from "./Kinds.ts"

export const settingsFile = ".aicr/settings.yaml"

export const settingNames = [
  "review.exclude",
  "review.max_problems",
  "review.min_severity",
  "review.output_language",
  "review.skip_lgtm",
  "review.walkthrough"
] as const
export type SettingName = (typeof settingNames)[number]

/** Forms of the walkthrough in a summary. */
export const Walkthrough = Schema.Literals(["folded", "open", "off"])

export const RepositorySettings = Schema.Struct({
  /** False if the base branch has no such file. */
  found: Schema.Boolean,
  /** Names of the settings that apply. */
  applied: Schema.Array(Schema.String),
  /** Names of those that the workspace does not permit, or that do not exist. */
  notAllowed: Schema.Array(Schema.String),
  /** Patterns of files that are not reviewed, in addition to those of the workspace. */
  exclude: Schema.optional(Schema.Array(Schema.String)),
  /** Fields that take the place of those of the workspace. */
  review: Schema.Struct({
    max_problems: Schema.optionalKey(Schema.Int),
    min_severity: Schema.optionalKey(Severity),
    output_language: Schema.optionalKey(Schema.String),
    skip_lgtm: Schema.optionalKey(Schema.Boolean),
    walkthrough: Schema.optionalKey(Walkthrough)
  })
})
export type RepositorySettings = typeof RepositorySettings.Type

/** Returns the workspace with the settings of the repository. */
export const withSettings = <A extends { readonly review: object }>(
  workspace: A,
  settings: RepositorySettings | undefined
): A => (settings === undefined ? workspace : { ...workspace, review: { ...workspace.review, ...settings.review } })

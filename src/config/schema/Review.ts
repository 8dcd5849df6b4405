/**
 * Schema of `review`: scope, limits, schedule and language of reviews. Workspaces override it per field; the nearest list replaces others.
 */
import { Schema } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, optional, required } from "../fields/Field.ts"
import {
  checked,
  choice,
  Flag,
  int,
  list,
  matching,
  named,
  number,
  PositiveInt,
  Text,
  TimeZone,
  withShorthand
} from "../fields/Scalars.ts"
import { FieldGlob, Glob, Matcher } from "../formats/Patterns.ts"

/** Most bytes and paths that a review reads beyond its diff, where `review.fetch_extra` has no value. */
export const extraDefaults = { max_bytes: 256 * 1024, max_files: 200 } as const

/** Limits of the lessons where `review.reflection.memory` has no value. */
export const memoryDefaults = { max_size_kb: 256, max_entries: 500 } as const

const Time = matching(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, { _tag: "TimeOfDay" })

export const Window = withShorthand(
  Schema.Struct({
    start: required(Time, "review.auto_commit.schedule.rules[].windows[].start"),
    end: required(Time, "review.auto_commit.schedule.rules[].windows[].end")
  }),
  { _tag: "TimeRange", form: "{start, end}" },
  (value) => {
    if (typeof value !== "string") return undefined
    const [start = "", ...rest] = value.split("-")
    const range = { start: start.trim(), end: rest.join("-").trim() }
    return /^\S+ \S+$/.test(`${range.start} ${range.end}`) ? range : undefined
  }
)
export type Window = Resolved<typeof Window>

const ScheduleRule = Schema.Struct({
  days: required(list(named("weekday"), { minItems: 1, unique: true }), "review.auto_commit.schedule.rules[].days"),
  windows: required(list(Window, { minItems: 1, maxItems: 48 }), "review.auto_commit.schedule.rules[].windows")
})
type ScheduleRule = Resolved<typeof ScheduleRule>

const schedule = <const Of extends "auto_commit" | "pull_request">(of: Of) =>
  group(
    {
      timezone: defaulted(TimeZone, "UTC", `review.${of}.schedule.timezone`),
      rules: optional(list(ScheduleRule, { maxItems: 64 }), `review.${of}.schedule.rules`)
    },
    `review.${of}.schedule`
  )
export type Schedule = Resolved<ReturnType<typeof schedule>["schema"]>

export const ExcludeSource = Schema.Struct({
  id: required(Text, "review.auto_commit.exclude_sources[].id"),
  vcs: optional(named("triggerKind"), "review.auto_commit.exclude_sources[].vcs"),
  match: required(
    Schema.Struct({
      author: optional(Matcher, "review.auto_commit.exclude_sources[].match.author"),
      email: optional(Matcher, "review.auto_commit.exclude_sources[].match.email"),
      message: optional(Matcher, "review.auto_commit.exclude_sources[].match.message"),
      branch: optional(Matcher, "review.auto_commit.exclude_sources[].match.branch"),
      client: optional(Matcher, "review.auto_commit.exclude_sources[].match.client")
    }),
    "review.auto_commit.exclude_sources[].match"
  )
})
export type ExcludeSource = Resolved<typeof ExcludeSource>

const Branch = matching(/^(?!refs\/)[^\s~^:?*[\\]+$/, { _tag: "BranchName" }, (value) =>
  value.startsWith("refs/heads/") ? value.slice("refs/heads/".length) : undefined
)

const EvidencePath = checked(
  { _tag: "RelativePath" },
  "path",
  (value) => value !== "" && value.length <= 512 && !value.startsWith("/") && !value.split("/").includes("..")
)

export const ReviewConfig = Schema.Struct({
  languages_auto_detect: defaulted(Flag, true, "review.languages_auto_detect"),
  include: defaulted(list(Glob), ["**/*"], "review.include"),
  exclude: defaulted(list(Glob), ["**/vendor/**", "**/*.min.js", "**/*.lock"], "review.exclude"),
  max_files: defaulted(PositiveInt, 2000, "review.max_files"),
  max_changed_paths: defaulted(PositiveInt, 50_000, "review.max_changed_paths"),
  max_file_bytes: defaulted(PositiveInt, 10_485_760, "review.max_file_bytes"),
  max_patch_bytes: defaulted(PositiveInt, 20_971_520, "review.max_patch_bytes"),
  max_passes: optional(int(1, 1000), "review.max_passes", { runtimeDefault: 40 }),
  incremental: defaulted(Flag, true, "review.incremental"),
  walkthrough: defaulted(choice("folded", "open", "off"), "folded", "review.walkthrough"),
  skip_lgtm: defaulted(Flag, true, "review.skip_lgtm"),
  output_language: defaulted(Text, "zh-CN", "review.output_language"),
  commit_strategy: defaulted(choice("aggregate", "per_commit", "head_only"), "aggregate", "review.commit_strategy"),
  log_thinking: defaulted(Flag, true, "review.log_thinking"),
  git: group({ allow_deepen: defaulted(Flag, false, "review.git.allow_deepen") }, "review.git"),
  labels: group(
    {
      ignore: defaulted(list(Text), ["aicr:ignore", "aicr-ignore"], "review.labels.ignore"),
      auto_tag: optional(Text, "review.labels.auto_tag"),
      reviewed_tag: optional(Text, "review.labels.reviewed_tag")
    },
    "review.labels"
  ),
  problem_issue: group(
    { max_recent_issues: defaulted(int(1, 200), 30, "review.problem_issue.max_recent_issues") },
    "review.problem_issue"
  ),
  fetch_extra: group(
    {
      max_bytes: optional(PositiveInt, "review.fetch_extra.max_bytes", { runtimeDefault: extraDefaults.max_bytes }),
      max_files: optional(PositiveInt, "review.fetch_extra.max_files", { runtimeDefault: extraDefaults.max_files }),
      allow_paths: optional(list(Glob), "review.fetch_extra.allow_paths")
    },
    "review.fetch_extra"
  ),
  evidence: group(
    {
      sarif: optional(list(EvidencePath, { maxItems: 10 }), "review.evidence.sarif"),
      ci: group(
        {
          artifacts: optional(list(FieldGlob, { maxItems: 10 }), "review.evidence.ci.artifacts"),
          wait_minutes: defaulted(int(0, 60), 0, "review.evidence.ci.wait_minutes")
        },
        "review.evidence.ci"
      )
    },
    "review.evidence"
  ),
  reflection: group(
    {
      enabled: defaulted(Flag, false, "review.reflection.enabled"),
      mode: optional(choice("off", "light", "thorough"), "review.reflection.mode"),
      memory: group(
        {
          max_size_kb: optional(PositiveInt, "review.reflection.memory.max_size_kb", {
            runtimeDefault: memoryDefaults.max_size_kb
          }),
          max_entries: optional(PositiveInt, "review.reflection.memory.max_entries", {
            runtimeDefault: memoryDefaults.max_entries
          }),
          retention_days: defaulted(PositiveInt, 90, "review.reflection.memory.retention_days")
        },
        "review.reflection.memory"
      )
    },
    "review.reflection"
  ),
  auto_commit: group(
    {
      delay_seconds: defaulted(int(0, 31_536_000), 300, "review.auto_commit.delay_seconds"),
      queued_timeout_hours: defaulted(int(0, 8760), 72, "review.auto_commit.queued_timeout_hours"),
      schedule: schedule("auto_commit"),
      exclude_sources: optional(list(ExcludeSource, { maxItems: 256 }), "review.auto_commit.exclude_sources"),
      include_branches: optional(list(Branch), "review.auto_commit.include_branches")
    },
    "review.auto_commit"
  ),
  pull_request: group(
    {
      schedule: schedule("pull_request"),
      include_target_branches: optional(list(Branch), "review.pull_request.include_target_branches")
    },
    "review.pull_request"
  ),
  max_per_author_hour: defaulted(int(0, 1_000_000), 0, "review.max_per_author_hour"),
  skip_drafts: defaulted(Flag, true, "review.skip_drafts"),
  min_severity: defaulted(Severity, "info", "review.min_severity"),
  max_problems: defaulted(PositiveInt, 50, "review.max_problems"),
  credentials: defaulted(choice("report", "ignore"), "report", "review.credentials"),
  verification: defaulted(choice("off", "auto", "always"), "auto", "review.verification"),
  acceptance_floor: defaulted(number(0, 0.9), 0, "review.acceptance_floor"),
  blind: defaulted(choice("off", "auto", "always"), "auto", "review.blind"),
  private: group(
    {
      severity: defaulted(Severity, "critical", "review.private.severity"),
      categories: defaulted(list(Text, { minItems: 1, maxItems: 50 }), ["security"], "review.private.categories"),
      channel: optional(Text, "review.private.channel", { refers: "channel" })
    },
    "review.private"
  ),
  dismissal: defaulted(choice("maintainers", "anyone"), "maintainers", "review.dismissal"),
  status_fail_on: optional(Severity, "review.status_fail_on"),
  status_check: defaulted(Flag, true, "review.status_check"),
  verdict_timeout: defaulted(int(0, 10_080), 60, "review.verdict_timeout"),
  comment_commands: defaulted(Flag, true, "review.comment_commands"),
  conversation: group(
    {
      enabled: defaulted(Flag, true, "review.conversation.enabled"),
      from: optional(choice("writers", "everybody"), "review.conversation.from"),
      limits: group(
        {
          thread: defaulted(int(1, 1000), 6, "review.conversation.limits.thread"),
          person_hour: defaulted(int(1, 10_000), 10, "review.conversation.limits.person_hour"),
          change_day: defaulted(int(1, 10_000), 40, "review.conversation.limits.change_day"),
          strangers_day: defaulted(int(0, 10_000), 20, "review.conversation.limits.strangers_day"),
          agent_rounds: defaulted(int(0, 10_000), 10, "review.conversation.limits.agent_rounds")
        },
        "review.conversation.limits"
      )
    },
    "review.conversation"
  ),
  commands_ignore_windows: defaulted(Flag, true, "review.commands_ignore_windows"),
  ignore_file: defaulted(Text, ".aicrignore", "review.ignore_file"),
  unread: defaulted(choice("neutral", "fail", "ignore"), "neutral", "review.unread"),
  ignore_file_scope: defaulted(choice("unprotected", "all", "none"), "unprotected", "review.ignore_file_scope")
})
export type ReviewConfig = Resolved<typeof ReviewConfig>
/** A workspace's layer, without defaults. */
export type ReviewLayer = typeof ReviewConfig.Type

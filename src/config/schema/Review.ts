/**
 * Schema of `review`: scope, limits, schedule and language of reviews. Workspaces override it per field; the nearest list replaces others.
 */
import { Schema } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import type { Resolved } from "../Field.ts"
import { defaulted, group, optional, required } from "../Field.ts"
import {
  checked,
  choice,
  Flag,
  int,
  list,
  matching,
  named,
  PositiveInt,
  Text,
  TimeZone,
  withShorthand
} from "../Scalars.ts"
import { FieldGlob, Glob, Matcher } from "../formats/Patterns.ts"

const Time = matching(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, "a time HH:mm from 00:00 to 24:00")

export const Window = withShorthand(
  Schema.Struct({
    start: required(Time, "First minute of the window, HH:mm."),
    end: required(Time, "End of the window, HH:mm, not included. Before start: the window crosses midnight.")
  }),
  "a range `HH:mm-HH:mm` or {start, end}",
  (value) => {
    if (typeof value !== "string") return undefined
    const [start = "", ...rest] = value.split("-")
    const range = { start: start.trim(), end: rest.join("-").trim() }
    return /^\S+ \S+$/.test(`${range.start} ${range.end}`) ? range : undefined
  }
)
export type Window = Resolved<typeof Window>

export const ScheduleRule = Schema.Struct({
  days: required(list(named("weekday"), { minItems: 1, unique: true }), "Weekdays, mon to sun."),
  windows: required(list(Window, { minItems: 1, maxItems: 48 }), "Open windows of these days, `HH:mm-HH:mm`.")
})
export type ScheduleRule = Resolved<typeof ScheduleRule>

const scheduleFields = (what: string, rules: string) => ({
  timezone: defaulted(TimeZone, "UTC", `IANA time zone of the ${what} schedule.`),
  rules: optional(list(ScheduleRule, { maxItems: 64 }), rules)
})
export const Schedule = Schema.Struct(
  scheduleFields("weekly", "Weekly groups, joined; `[]` removes all limits; omitted: none are set here.")
)
export type Schedule = Resolved<typeof Schedule>

export const ExcludeSource = Schema.Struct({
  id: required(Text, "Rule id. Unique in the list."),
  vcs: optional(named("triggerKind"), "Only changes of this kind of trigger."),
  match: required(
    Schema.Struct({
      author: optional(Matcher, "User name of the author or submitter."),
      email: optional(Matcher, "E-mail address of the author."),
      message: optional(Matcher, "Commit message or change description."),
      branch: optional(Matcher, "Branch."),
      client: optional(Matcher, "Perforce client workspace.")
    }),
    "What the change looks like; all given matchers must hit. Each has exactly one of glob and regex."
  )
})
export type ExcludeSource = Resolved<typeof ExcludeSource>

const Branch = matching(
  /^(?!refs\/)[^\s~^:?*[\\]+$/,
  "an exact branch name without refs/heads/ and wildcards",
  (value) => (value.startsWith("refs/heads/") ? value.slice("refs/heads/".length) : undefined)
)

const EvidencePath = checked(
  "a relative path of at most 512 characters without .. segments",
  "path",
  (value) => value !== "" && value.length <= 512 && !value.startsWith("/") && !value.split("/").includes("..")
)

export const ReviewConfig = Schema.Struct({
  languages_auto_detect: defaulted(Flag, true, "Detect languages."),
  include: defaulted(list(Glob), ["**/*"], "Path globs; `*` stays within a directory, `**` spans any number of them."),
  exclude: defaulted(list(Glob), ["**/vendor/**", "**/*.min.js", "**/*.lock"], "Path globs, applied after include."),
  max_files: defaulted(
    PositiveInt,
    2000,
    "Maximum number of files that are read, of those that pass the filters. The summary names the others."
  ),
  max_changed_paths: defaulted(
    PositiveInt,
    50_000,
    "Maximum number of files and folders that a change may touch, excluded ones included. A larger change fails before it is read."
  ),
  max_file_bytes: defaulted(
    PositiveInt,
    10_485_760,
    "Maximum size of a file, before and after the change; larger files are not read, and the summary names them."
  ),
  max_patch_bytes: defaulted(
    PositiveInt,
    20_971_520,
    "Maximum size of the diff in bytes (UTF-8). A larger change fails before any model is called."
  ),
  max_passes: defaulted(
    int(1, 1000),
    40,
    "Maximum number of passes of a review. A pass is one conversation with the model about a part of a large change, the riskiest files first. What does not fit is compressed (`compression`), and the summary names it."
  ),
  incremental: defaulted(
    Flag,
    true,
    "With false, the model also gets the complete changed files, within max_patch_bytes."
  ),
  skip_lgtm: defaulted(
    Flag,
    true,
    "Write no comment if a review found no problem; only the summary of an earlier review is updated. no_problems.action takes precedence."
  ),
  output_language: defaulted(Text, "zh-CN", "Language of summaries and comments."),
  commit_strategy: defaulted(
    choice("aggregate", "per_commit", "head_only"),
    "aggregate",
    "What is compared for several commits: the state before the first with that after the last, each commit by itself in one review, or the newest commit only. After a force push, always the two states."
  ),
  log_thinking: defaulted(Flag, true, "Log traces of the orchestration."),
  git: group({ allow_deepen: defaulted(Flag, false, "Allow deepening of shallow clones.") }, "Git checkout."),
  labels: group(
    {
      ignore: defaulted(list(Text), ["aicr:ignore", "aicr-ignore"], "Labels that skip the review."),
      auto_tag: optional(Text, "Label added when a review starts."),
      reviewed_tag: optional(Text, "Label added when a review is complete.")
    },
    "Labels at the host."
  ),
  problem_issue: group(
    { max_recent_issues: defaulted(int(1, 200), 30, "Most recent open managed issues reconciled per run.") },
    "Managed issues."
  ),
  fetch_extra: group(
    {
      max_bytes: optional(
        PositiveInt,
        "Maximum size in bytes (UTF-8) of what the model reads in addition to the diff, per review."
      ),
      max_files: optional(PositiveInt, "Distinct paths of extra context per run."),
      allow_paths: optional(list(Glob), "Path globs that may be fetched.")
    },
    "Extra context that a model may request."
  ),
  evidence: group(
    {
      sarif: optional(
        list(EvidencePath, { maxItems: 10 }),
        "SARIF files with results of other tools, as paths in the repository: at the reviewed commit, for `aicr review` also in the work tree. Results on changed lines are shown to the model, and problems on the same lines cite them."
      ),
      ci: group(
        {
          artifacts: optional(
            list(FieldGlob, { maxItems: 10 }),
            "Globs over the names of artifacts (GitLab: of jobs) whose files `.sarif` and `.sarif.json` are read, from CI runs of exactly the reviewed commit in the same repository. Unset or `[]`: none. GitHub, GitLab, Gitea 1.25 or later."
          ),
          wait_minutes: defaulted(
            int(0, 60),
            0,
            "Minutes for which a review waits for the CI runs of its commit, from its first attempt on; 0: not at all. It holds no slot while it waits. After that it continues without the missing artifacts, and names them."
          )
        },
        "SARIF in artifacts of CI."
      )
    },
    "Results of other tools."
  ),
  reflection: group(
    {
      enabled: defaulted(Flag, false, "Remember lessons of earlier reviews."),
      mode: optional(
        choice("off", "light", "thorough"),
        "How much later reviews use of the lessons; `light` if unset."
      ),
      memory: group(
        {
          max_size_kb: optional(PositiveInt, "Size of the memory in KiB."),
          max_entries: optional(PositiveInt, "Entries of the memory."),
          retention_days: defaulted(PositiveInt, 90, "Days an entry is kept.")
        },
        "Bounds of the memory."
      )
    },
    "Reflection memory."
  ),
  auto_commit: group(
    {
      delay_seconds: defaulted(
        int(0, 31_536_000),
        300,
        "Seconds from the first push until the review of its batch may start; 0: immediately."
      ),
      queued_timeout_hours: defaulted(
        int(0, 8760),
        72,
        "Hours for which pushes and chat requests may wait; then they end with `queued_timeout`. 0: no limit. A changed value also applies to what waits already."
      ),
      schedule: group(
        scheduleFields("automatic commit", "Weekly groups, joined; `[]` lifts all limits."),
        "When automatic commits are reviewed."
      ),
      exclude_sources: optional(
        list(ExcludeSource, { maxItems: 256 }),
        "Bots and CI whose commits are not reviewed; `[]` clears inherited rules."
      ),
      include_branches: optional(
        list(Branch),
        "Branches whose pushes are reviewed, by exact name; pushes to others start no review. The most specific list applies; `[]` accepts all."
      )
    },
    "Commits reviewed by themselves, outside pull requests."
  ),
  pull_request: group(
    {
      schedule: group(
        scheduleFields(
          "pull request",
          "Weekly groups, joined; `[]` lifts all limits. Unset everywhere: auto_commit.schedule."
        ),
        "When pull requests are reviewed."
      ),
      include_target_branches: optional(
        list(Branch),
        "Target branches whose pull requests are reviewed, by exact name; others start no review. The most specific list applies; `[]` accepts all."
      )
    },
    "Pull and merge requests."
  ),
  max_per_author_hour: defaulted(
    int(0, 1_000_000),
    0,
    "Maximum number of reviews per author and clock hour (UTC), over all repositories of a trigger; 0: no limit. Further changes are not reviewed, and their commit status names the reason. Somebody else with write access may request the review."
  ),
  skip_drafts: defaulted(Flag, true, "Wait with a draft until it is marked ready."),
  min_severity: defaulted(Severity, "info", "Least severity that is published."),
  max_problems: defaulted(PositiveInt, 50, "Most problems published per run."),
  verification: defaulted(
    choice("off", "auto", "always"),
    "auto",
    "Let the model verify problems before they are published; auto: high and critical ones."
  ),
  second_pass: defaulted(
    choice("off", "auto", "always"),
    "off",
    "Second, independent reading of files, whose problems join those of the first; auto: of the passes that show a file with a security-sensitive path (sign-in, permissions, payments, migrations); always: of all. A pass that is read twice costs about twice as much."
  ),
  dismissal: defaulted(
    choice("maintainers", "anyone"),
    "maintainers",
    "Who dismisses a problem for good, by resolving its comment or with a thumbs-down. maintainers: who may write to the repository and did not open the change."
  ),
  status_fail_on: optional(
    Severity,
    "Lowest severity that makes the commit status a failure. Unset: problems never do."
  ),
  status_check: defaulted(Flag, true, "Report a commit status or check run on pull requests."),
  comment_commands: defaulted(Flag, true, "Take commands from comments."),
  ignore_file: defaulted(Text, ".aicrignore", "File in the repository that lists paths to leave out."),
  unread: defaulted(
    choice("neutral", "fail", "ignore"),
    "neutral",
    "What the commit status says when the change adds text that was not read (over a limit, or in no known encoding), or a report of the model could not be read: neutral (Gitea and Forgejo `warning`, GitHub `error`, GitLab `skipped`), failed, or ignored. Whatever it is, the summary names the files."
  ),
  ignore_file_scope: defaulted(
    choice("unprotected", "all", "none"),
    "unprotected",
    "What the ignore file may hide: everything but security-relevant paths (CI workflows, container files, dependency manifests, build scripts, the rules of reviews themselves), all paths, or none. Whatever it hides is named in the coverage with the rule."
  )
})
export type ReviewConfig = Resolved<typeof ReviewConfig>
/** A workspace's layer, without defaults. */
export type ReviewLayer = typeof ReviewConfig.Type

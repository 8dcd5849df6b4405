/**
 * Statistics of ended runs, which outlive the records of the runs. `Runs` writes them in the transaction that ends a run; definitions of the
 * counts: docs/statistics.md. Times are milliseconds since the epoch, days and weeks are those of UTC.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { foldRepo } from "../domain/Change.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import type { DurationHistogram } from "../domain/DurationHistogram.ts"
import type { RunCounts } from "../domain/RunCounts.ts"
import type { TimelineBucket, WindowName } from "../domain/StatisticsPeriods.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"

export const Project = record({
  id: Field.text,
  workspace: Field.text,
  /** Trigger profile of the repository's host. */
  trigger: Field.named("trigger_name", Field.text),
  /** Name in the host's spelling. */
  repository: Field.named("name", Field.text),
  /** Team of its workspace at its newest run. */
  team: Field.optional(Field.text),
  createdAt: Field.time,
  lastRunAt: Field.time,
  /** Time since which its workspace or trigger is not configured, or of its deletion by an administrator. */
  deletedAt: Field.optional(Field.time),
  /** Administrator who deleted it. */
  deletedBy: Field.optional(Field.text)
})
export type Project = RecordValues<typeof Project>

export interface Totals {
  readonly counts: RunCounts
  readonly durations: DurationHistogram
  readonly firstComments: DurationHistogram
}

/** Scopes whose runs are summed in a period. */
export const PeriodScope = Schema.Literals(["instance", "team", "workspace"])
export type PeriodScope = typeof PeriodScope.Type

/** Sums of one subject in a period, and in the same number of days before it; undefined for all time. */
export interface PeriodTotals extends Totals {
  /** Team or workspace; empty for the instance. */
  readonly name: string
  readonly before: Totals | undefined
}

export interface ProjectTotals extends Totals {
  readonly project: Project
}

export interface ModelTotals extends Totals {
  /** Name as `provider/model`. */
  readonly model: string
}

export interface BucketTotals extends Totals {
  readonly startAt: number
}

/** Maximum number of projects or models in a result. */
export const maxSubjects = 1000

/** Selects the subjects of a result: `since` is extended to the start of its day; undefined for all time. */
interface SubjectFilter {
  readonly since?: number | undefined
  /** Maximum number of subjects, up to `maxSubjects`. */
  readonly limit: number
}

interface ProjectSubjects extends SubjectFilter {
  /** Only those whose newest run counted for the team. */
  readonly team?: string | undefined
}

/** Values that projects are listed by, apart from their creation. */
export const projectValues = ["last_run", "repository"] as const

export interface ProjectOrder {
  readonly by: (typeof projectValues)[number]
  readonly smallestFirst: boolean
  /** Lists those that follow this project. */
  readonly from?: { readonly value: string; readonly id: string } | undefined
}

/** Values that a project must have; undefined ones select nothing. */
export interface ProjectFilter extends IdRange {
  readonly workspace?: string | undefined
  /** Full name of the repository, compared case-insensitively. */
  readonly repo?: string | undefined
  readonly deleted?: boolean | undefined
  /** Default: by id. */
  readonly order?: ProjectOrder | undefined
  readonly limit: number
}

/** A repository that no workspace has by its name. */
export interface RenamedRepository {
  /** Names of the triggers that verified its delivery; at least one. */
  readonly triggers: ReadonlyArray<string>
  /** Its id at the host. */
  readonly hostId: number
  readonly repo: string
}

/** Returns the value that a project is listed by. */
export const listedProjectValue = (project: Project, by: ProjectOrder["by"]): string | number =>
  by === "last_run" ? project.lastRunAt : foldRepo(project.repository)

export class Statistics extends Context.Service<
  Statistics,
  {
    /** Returns the totals of each calendar window. */
    readonly windows: (now: number) => Effect.Effect<Readonly<Record<WindowName, Totals>>, StoreError>
    /** Returns projects with runs in the period, those with the newest runs first. */
    readonly projects: (filter: ProjectSubjects) => Effect.Effect<ReadonlyArray<ProjectTotals>, StoreError>
    /** Returns models with calls in the period, by name. */
    readonly models: (filter: SubjectFilter) => Effect.Effect<ReadonlyArray<ModelTotals>, StoreError>
    /**
     * Returns the sums of each subject with runs in the period, by name, at most `maxSubjects`. `since` and `until` are extended to whole
     * days; all time without `since`.
     */
    readonly periods: (period: {
      readonly by: PeriodScope
      readonly since: number | undefined
      readonly until: number
    }) => Effect.Effect<ReadonlyArray<PeriodTotals>, StoreError>
    /** Returns one item per hour or day until now, oldest first, also where no run ended. Of a team there are days only. */
    readonly timeline: (
      bucket: TimelineBucket,
      since: number | undefined,
      now: number,
      team?: string
    ) => Effect.Effect<ReadonlyArray<BucketTotals>, StoreError>
    /** Returns the project that has the repository under another name. */
    readonly findRenamed: (repository: RenamedRepository) => Effect.Effect<Project | undefined, StoreError>
    /** Lists projects, those created last first. */
    readonly listProjects: (filter: ProjectFilter) => Effect.Effect<ReadonlyArray<Project>, StoreError>
    /** Marks a project as deleted by an administrator, or removes its mark if there is none. Undefined if it does not exist. */
    readonly markProject: (
      id: string,
      by: string | undefined,
      now: number
    ) => Effect.Effect<Project | undefined, StoreError>
    /** Marks projects that are no longer configured, and removes the mark of those that are again. */
    readonly markProjects: (isConfigured: (project: Project) => boolean, now: number) => Effect.Effect<void, StoreError>
    /** Removes counts per hour that no timeline shows any more, and projects marked until `deletedUntil`. Returns how many projects. */
    readonly prune: (deletedUntil: number, now: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Statistics") {}

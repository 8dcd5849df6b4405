/** CI of GitLab: a run is a pipeline, and an artifact is the archive of one of its jobs. */
import { Effect, Schema } from "effect"
import type { HostCi } from "../hosts/HostCi.ts"
import type { Rest } from "../http/Http.ts"
import { projectId, projectPath } from "./Paths.ts"

const maxPipelines = 10
const jobPages = { name: "per_page", value: 100, max: 300 } as const

const Pipeline = Schema.Struct({
  id: Schema.Int,
  sha: Schema.String,
  source: Schema.optional(Schema.NullOr(Schema.String))
})

const Job = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  status: Schema.String,
  commit: Schema.optional(Schema.NullOr(Schema.Struct({ id: Schema.String }))),
  artifacts_file: Schema.optional(Schema.NullOr(Schema.Struct({ size: Schema.optional(Schema.NullOr(Schema.Int)) })))
})

/** A manual job may never start, so it is not waited for. */
const ended: ReadonlySet<string> = new Set(["success", "failed", "canceled", "skipped", "manual"])

export const gitlabCi = (rest: Rest): HostCi => {
  const jobs = (id: string, pipeline: number) =>
    rest.pages(
      { path: `${projectPath}/pipelines/{pipeline_id}/jobs`, params: { id, pipeline_id: pipeline } },
      Job,
      jobPages
    )
  return {
    /**
     * Whether a pipeline has ended follows from its jobs: its own status includes commit statuses of other services, and so the
     * pending one of this review.
     */
    runs: Effect.fnUntraced(function* (repo, head) {
      const pipelines = yield* rest.get(
        {
          path: `${projectPath}/pipelines`,
          params: { id: projectId(repo) },
          query: { sha: head, per_page: maxPipelines }
        },
        Schema.Array(Pipeline)
      )
      const own = pipelines.filter(({ sha, source }) => sha === head && source !== "external")
      const items = yield* Effect.forEach(own, ({ id }) =>
        Effect.map(jobs(projectId(repo), id), (listed) => ({
          id,
          hasEnded: listed.every(({ status }) => ended.has(status))
        }))
      )
      return { items, hasMore: pipelines.length === maxPipelines }
    }),
    artifacts: (repo, head, run) =>
      Effect.map(jobs(projectId(repo), run.id), (listed) => ({
        items: listed.flatMap(({ artifacts_file: file, commit, id, name }) =>
          file === null || file === undefined || (commit?.id ?? head) !== head
            ? []
            : [{ id, name, bytes: file.size ?? undefined }]
        ),
        hasMore: listed.length === jobPages.max
      })),
    download: (repo, { id }, maxBytes) =>
      rest.download(
        { path: `${projectPath}/jobs/{job_id}/artifacts`, params: { id: projectId(repo), job_id: id } },
        maxBytes
      )
  }
}

/** CI of hosts with GitHub's form of the Actions API: GitHub, and Gitea since 1.25. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { CiArtifact, HostCi, Listed } from "./HostCi.ts"
import type { PageSize, Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"

/** Upper bound for the pages of artifacts of one run. */
const maxPages = 3

const Runs = Schema.Struct({
  total_count: Schema.Int,
  workflow_runs: Schema.NullOr(
    Schema.Array(
      Schema.Struct({ id: Schema.Int, head_sha: Schema.String, status: Schema.optional(Schema.NullOr(Schema.String)) })
    )
  )
})

const Artifacts = Schema.Struct({
  total_count: Schema.Int,
  artifacts: Schema.NullOr(
    Schema.Array(
      Schema.Struct({
        id: Schema.Int,
        name: Schema.String,
        size_in_bytes: Schema.optional(Schema.NullOr(Schema.Int)),
        expired: Schema.optional(Schema.NullOr(Schema.Boolean)),
        workflow_run: Schema.optional(
          Schema.NullOr(Schema.Struct({ head_sha: Schema.optional(Schema.NullOr(Schema.String)) }))
        )
      })
    )
  )
})

export const actionsCi = (rest: (repo: Repo) => Rest, size: PageSize): HostCi => ({
  runs: (repo, head) =>
    Effect.map(
      rest(repo).get(
        {
          path: `${repoPath}/actions/runs`,
          params: ownerAndName(repo),
          query: { head_sha: head, [size.name]: size.value }
        },
        Runs
      ),
      ({ total_count: total, workflow_runs: runs }) => ({
        // A server that ignores the filter returns runs of other commits.
        items: (runs ?? []).flatMap(({ id, head_sha: sha, status }) =>
          sha === head ? [{ id, hasEnded: status === "completed" }] : []
        ),
        hasMore: total > (runs ?? []).length
      })
    ),
  artifacts: Effect.fnUntraced(function* (repo, head, run): Effect.fn.Return<Listed<CiArtifact>, ForgeError> {
    const newest = new Map<string, CiArtifact>()
    for (let page = 1, seen = 0; page <= maxPages; page++) {
      const { artifacts, total_count: total } = yield* rest(repo).get(
        {
          path: `${repoPath}/actions/runs/{run_id}/artifacts`,
          params: { ...ownerAndName(repo), run_id: run.id },
          query: { [size.name]: size.value, page }
        },
        Artifacts
      )
      const listed = artifacts ?? []
      for (const { expired, id, name, size_in_bytes: bytes, workflow_run: of } of listed) {
        if (expired === true || (of?.head_sha ?? head) !== head) continue
        // A repeated attempt of a run stores artifacts of the same name.
        if (id > (newest.get(name)?.id ?? 0)) newest.set(name, { id, name, bytes: bytes ?? undefined })
      }
      seen += listed.length
      if (listed.length === 0 || seen >= total) return { items: [...newest.values()], hasMore: false }
    }
    return { items: [...newest.values()], hasMore: true }
  }),
  download: (repo, { id }, maxBytes) =>
    rest(repo).download(
      {
        path: `${repoPath}/actions/artifacts/{artifact_id}/zip`,
        params: { ...ownerAndName(repo), artifact_id: id }
      },
      maxBytes
    )
})

/**
 * CI of the fake hosts: runs of commits with their artifacts, whose zips are in a storage at another origin, as hosts keep them. Added to
 * the dialects of the fake forge; Forgejo has no such API.
 */
import { createServer } from "node:http"
import type { IncomingMessage, Server } from "node:http"
import { findRepository } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoRepository } from "../../demo/DemoForgeState.ts"

export interface FakeArtifact {
  readonly id: number
  readonly name: string
  readonly zip: Buffer
  readonly expired?: boolean
  /** Commit that the artifact itself names, where it is another than that of its run. */
  readonly head?: string
}

export interface FakeRun {
  readonly id: number
  readonly head: string
  hasEnded: boolean
  readonly artifacts: Array<FakeArtifact>
}

export interface FakeCi {
  readonly runs: Array<FakeRun>
  /** Whether runs are listed whatever their commit, as servers do that ignore the parameter. */
  ignoresHead: boolean
  /** URL to which downloads are redirected; undefined: that of the storage. */
  location: string | undefined
}

const all = new WeakMap<DemoRepository, FakeCi>()
export const getCi = (repository: DemoRepository): FakeCi => {
  const known = all.get(repository) ?? { runs: [], ignoresHead: false, location: undefined }
  all.set(repository, known)
  return known
}

export interface FakeStorage {
  readonly url: string
  readonly requests: ReadonlyArray<Pick<IncomingMessage, "url" | "headers">>
  readonly close: () => Promise<void>
}

const zips = new Map<number, Buffer>()
let storage: { readonly server: Server; readonly requests: Array<IncomingMessage>; readonly url: string } | undefined

/** The storage of all fake hosts of this process: zips by the id of their artifact, under signed URLs. */
export const startStorage = async (): Promise<FakeStorage> => {
  const requests: Array<IncomingMessage> = []
  const server = createServer((request, response) => {
    requests.push(request)
    const zip = zips.get(Number(/^\/blobs\/(\d+)\?sig=/.exec(request.url ?? "")?.[1]))
    if (zip === undefined) response.writeHead(403).end("<Error/>")
    else response.writeHead(200, { "content-type": "application/zip" }).end(zip)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  storage = { server, requests, url }
  return {
    url,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve()))
  }
}

const toStorage = (ci: FakeCi, { id, zip }: FakeArtifact): ApiAnswer => {
  zips.set(id, zip)
  return { status: 302, headers: { location: ci.location ?? `${storage?.url}/blobs/${id}?sig=s3cret` } }
}

const notFound: ApiAnswer = { status: 404, body: { message: "Not Found" } }

const onPage = <A>(context: ApiContext, size: string, items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const { query } = context.request
  const per = Number(query.get(size) ?? 30)
  const start = (Number(query.get("page") ?? 1) - 1) * per
  return items.slice(start, start + per)
}

const repo = "/repos/{owner}/{repo}"

const actionsRoutes = (size: "limit" | "per_page"): ReadonlyArray<DemoRoute> => [
  {
    method: "GET",
    path: `${repo}/actions/runs`,
    answer: (context) => {
      const found = findRepository(context)
      if (found === undefined) return notFound
      const { ignoresHead, runs } = getCi(found)
      const listed = runs.filter(({ head }) => ignoresHead || head === context.request.query.get("head_sha"))
      const workflow_runs = onPage(context, size, listed).map(({ hasEnded, head, id }) => ({
        id,
        name: "ci",
        head_sha: head,
        status: hasEnded ? "completed" : "in_progress",
        conclusion: hasEnded ? "success" : null
      }))
      return { status: 200, body: { total_count: listed.length, workflow_runs } }
    }
  },
  {
    method: "GET",
    path: `${repo}/actions/runs/{run}/artifacts`,
    answer: (context) => {
      const found = findRepository(context)
      const run = found && getCi(found).runs.find(({ id }) => id === Number(context.params["run"]))
      if (run === undefined) return notFound
      const artifacts = onPage(context, size, run.artifacts).map(
        ({ expired = false, head = run.head, id, name, zip }) => ({
          id,
          name,
          size_in_bytes: zip.length,
          expired,
          workflow_run: { id: run.id, head_sha: head }
        })
      )
      return { status: 200, body: { total_count: run.artifacts.length, artifacts } }
    }
  },
  {
    method: "GET",
    path: `${repo}/actions/artifacts/{id}/zip`,
    answer: (context) => {
      const found = findRepository(context)
      const ci = found && getCi(found)
      const artifact = ci?.runs
        .flatMap(({ artifacts }) => artifacts)
        .find(({ id }) => id === Number(context.params["id"]))
      return ci === undefined || artifact === undefined ? notFound : toStorage(ci, artifact)
    }
  }
]

const project = "/projects/{id}"
const projectOf = ({ params, state }: ApiContext): FakeCi | undefined => {
  const found = state.repositories.get((params["id"] ?? "").toLowerCase())
  return found && getCi(found)
}

const gitlabRoutes: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: `${project}/pipelines`,
    answer: (context) => {
      const ci = projectOf(context)
      if (ci === undefined) return notFound
      const listed = ci.runs.filter(({ head }) => ci.ignoresHead || head === context.request.query.get("sha"))
      const own = listed.map(({ head, id }) => ({ id, sha: head, status: "running", source: "merge_request_event" }))
      // The pipeline that GitLab makes of the commit status of a review.
      const external = listed.map(({ head, id }) => ({ id: -id, sha: head, status: "running", source: "external" }))
      return { status: 200, body: onPage(context, "per_page", [...own, ...external]) }
    }
  },
  {
    method: "GET",
    path: `${project}/pipelines/{pipeline}/jobs`,
    answer: (context) => {
      const run = projectOf(context)?.runs.find(({ id }) => id === Number(context.params["pipeline"]))
      if (run === undefined) return notFound
      const jobs = [
        {
          id: run.id,
          name: "build",
          status: run.hasEnded ? "success" : "running",
          commit: { id: run.head },
          artifacts_file: null
        },
        ...run.artifacts
          .filter(({ expired }) => expired !== true)
          .map(({ head = run.head, id, name, zip }) => ({
            id,
            name,
            status: "success",
            commit: { id: head },
            artifacts_file: { filename: "artifacts.zip", size: zip.length }
          }))
      ]
      const page = Number(context.request.query.get("page") ?? 1)
      const next = page * Number(context.request.query.get("per_page")) < jobs.length ? String(page + 1) : ""
      return { status: 200, headers: { "x-next-page": next }, body: onPage(context, "per_page", jobs) }
    }
  },
  {
    method: "GET",
    path: `${project}/jobs/{job}/artifacts`,
    answer: (context) => {
      const ci = projectOf(context)
      const artifact = ci?.runs
        .flatMap(({ artifacts }) => artifacts)
        .find(({ id }) => id === Number(context.params["job"]))
      return ci === undefined || artifact === undefined ? notFound : toStorage(ci, artifact)
    }
  }
]

const routes = { gitea: actionsRoutes("limit"), github: actionsRoutes("per_page"), gitlab: gitlabRoutes }

export const withCi = (kind: keyof typeof routes, dialect: DemoDialect): DemoDialect => ({
  ...dialect,
  routes: [...routes[kind], ...dialect.routes]
})

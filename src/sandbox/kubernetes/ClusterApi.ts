/** Requests to the API of Kubernetes: pods, and the network policies of their namespace. */
import type { Pod } from "kubernetes-types/core/v1.d.ts"
import { Redacted, Schema } from "effect"
import { Agent, request } from "undici"
import { SandboxError } from "../Sandbox.ts"
import type { ClusterAccess } from "./ClusterAccess.ts"
import { NetworkPolicies } from "./NetworkGaps.ts"
import { PodView, PodViews } from "./PodView.ts"

const timeoutMillis = 10_000
const maxResponseBytes = 16_777_216

/** A response that is not a success, with the reason that the API gives. */
class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const Status = Schema.fromJsonString(Schema.Struct({ message: Schema.optional(Schema.String) }))
const decodeStatus = Schema.decodeUnknownOption(Status)
const decodePod = Schema.decodeUnknownSync(Schema.fromJsonString(PodView))
const decodePods = Schema.decodeUnknownSync(Schema.fromJsonString(PodViews))
const decodePolicies = Schema.decodeUnknownSync(Schema.fromJsonString(NetworkPolicies))

export interface ClusterApi {
  readonly access: ClusterAccess
  readonly createPod: (pod: Pod) => Promise<void>
  /** Returns undefined for a pod that does not exist. */
  readonly findPod: (name: string) => Promise<PodView | undefined>
  /** Ends a pod. One that does not exist is what is wanted. */
  readonly deletePod: (name: string) => Promise<void>
  /** Returns the pods of sandboxes. */
  readonly listPods: (labels: string) => Promise<PodViews["items"]>
  readonly listPolicies: () => Promise<NetworkPolicies["items"]>
  readonly close: () => Promise<void>
}

const failedText = (status: number, method: string, path: string, body: string): string => {
  const decoded = decodeStatus(body)
  const message = decoded._tag === "Some" ? decoded.value.message : undefined
  return `${method} ${path} returned ${status}: ${(message ?? body).slice(0, 500)}`
}

export const openApi = (access: ClusterAccess): ClusterApi => {
  const dispatcher = new Agent({
    connect: { ca: access.authority, timeout: timeoutMillis },
    headersTimeout: timeoutMillis,
    bodyTimeout: timeoutMillis,
    maxResponseSize: maxResponseBytes,
    connections: 4
  })
  const call = async (method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<string> => {
    const response = await request(`${apiUrl("https", access)}${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${Redacted.value(await access.token())}`,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.body.text()
    if (response.statusCode < 300) return text
    throw new ApiError(response.statusCode, failedText(response.statusCode, method, path, text))
  }
  const pods = `/api/v1/namespaces/${encodeURIComponent(access.namespace)}/pods`
  const policies = `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(access.namespace)}/networkpolicies`
  return {
    access,
    createPod: async (pod) => void (await call("POST", pods, pod)),
    findPod: (name) => call("GET", `${pods}/${name}`).then(decodePod, unlessMissing),
    deletePod: (name) =>
      call("DELETE", `${pods}/${name}`, { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 1 }).then(
        () => {},
        unlessMissing
      ),
    listPods: async (labels) =>
      decodePods(await call("GET", `${pods}?labelSelector=${encodeURIComponent(labels)}`)).items,
    listPolicies: async () => decodePolicies(await call("GET", policies)).items,
    close: () => dispatcher.close()
  }
}

/** Origin of the API. An address of IPv6 is in brackets. */
export const apiUrl = (scheme: "https" | "wss", { host, port }: ClusterAccess): string =>
  `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`

const unlessMissing = (cause: unknown): undefined => {
  if (cause instanceof ApiError && cause.status === 404) return undefined
  throw cause
}

export const errorText = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).trim().slice(0, 600)

export const toSandboxError = (cause: unknown): SandboxError => {
  if (cause instanceof SandboxError) return cause
  const isRefused = cause instanceof ApiError && (cause.status === 401 || cause.status === 403)
  const tag = isRefused ? "KubernetesForbids" : "KubernetesRefuses"
  return new SandboxError({ reason: "failed", why: { _tag: tag, why: errorText(cause) } })
}

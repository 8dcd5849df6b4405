/** Address and credentials of the cluster in which the service runs, as Kubernetes gives them to a pod. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Redacted } from "effect"
import type { Env } from "../../config/Credentials.ts"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import { SandboxError } from "../Sandbox.ts"

export interface ClusterAccess {
  readonly host: string
  readonly port: string
  /** Certificates of the authority of the API. */
  readonly authority: string
  /** Namespace of the sandboxes. */
  readonly namespace: string
  /** Read for each use: Kubernetes replaces it while the service runs. */
  readonly token: () => Promise<Redacted.Redacted>
}

export type ClusterSettings = Pick<SandboxConfig["kubernetes"], "namespace" | "service_account_dir">

/** Rejects with a `SandboxError` of reason `missing` if the service does not run in a cluster. */
export const openAccess = async (env: Env, settings: ClusterSettings): Promise<ClusterAccess> => {
  const folder = settings.service_account_dir
  const [host, port] = [env["KUBERNETES_SERVICE_HOST"] ?? "", env["KUBERNETES_SERVICE_PORT"] ?? ""]
  if (host === "" || port === "")
    throw new SandboxError({
      reason: "missing",
      why: { _tag: "ClusterMissing" }
    })
  const read = async (name: string): Promise<string> => {
    const path = join(folder, name)
    try {
      const text = (await readFile(path, "utf8")).trim()
      if (text !== "") return text
    } catch {
      // Reported with the advice.
    }
    throw new SandboxError({
      reason: "missing",
      why: { _tag: "ServiceAccountUnreadable", path }
    })
  }
  await read("token")
  return {
    host,
    port,
    authority: await read("ca.crt"),
    namespace: settings.namespace ?? (await read("namespace")),
    token: async () => Redacted.make(await read("token"))
  }
}

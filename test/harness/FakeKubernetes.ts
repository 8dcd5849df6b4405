/**
 * The API of a cluster over TLS, whose pods podman runs. It checks each request against the published schemas, authorises it by the
 * Role of the manifests, admits pods of the restricted profile only, and gives a network to pods that no policy isolates.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import type { Pod } from "kubernetes-types/core/v1.d.ts"
import { Pod as PodModel } from "kubernetes-models/v1"
import { WebSocketServer } from "ws"
import { parseAllDocuments } from "yaml"
import { findPodProblems } from "./KubernetesAdmission.ts"
import { PodRunner } from "./KubernetesPods.ts"
import type { Podman } from "./Podman.ts"

const manifests = join(import.meta.dirname, "../../deploy/kubernetes-sandboxes/sandboxes.yaml")
export const sandboxNamespace = "aicr-sandboxes"

const Rule = Schema.Struct({
  apiGroups: Schema.Array(Schema.String),
  resources: Schema.Array(Schema.String),
  verbs: Schema.Array(Schema.String)
})
const Manifest = Schema.Struct({
  kind: Schema.String,
  metadata: Schema.Struct({ name: Schema.String, namespace: Schema.optional(Schema.String) }),
  rules: Schema.optional(Schema.Array(Rule)),
  spec: Schema.optional(Schema.Unknown)
})

/** Parameters of the published operations, except for those that every operation has. */
const parameters: Readonly<Record<string, ReadonlyArray<string>>> = {
  "list pods": ["labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "watch", "timeoutSeconds"],
  "get pods/exec": ["command", "container", "stdin", "stdout", "stderr", "tty"],
  "delete pods": ["gracePeriodSeconds", "propagationPolicy", "orphanDependents", "dryRun"],
  "create pods": ["dryRun", "fieldManager", "fieldValidation"]
}

export interface FakeKubernetes {
  /** Variables of a pod, by which the service finds the API. */
  readonly environment: Readonly<Record<string, string>>
  readonly serviceAccountDir: string
  readonly pods: PodRunner
  /** Requests as verb, resource and status. */
  readonly requests: Array<string>
  /** Violations of the published description. */
  readonly violations: Array<string>
  readonly change: (change: Partial<Behaviour>) => void
  readonly reset: () => void
  readonly stop: () => Promise<void>
}

interface Behaviour {
  /** Whether the cluster applies policies. */
  readonly enforces: boolean
  readonly policies: ReadonlyArray<object>
  readonly token: string
}

interface Call {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly query: URLSearchParams
}

const parseCall = (method: string, address: string): Call | undefined => {
  const url = new URL(address, "https://cluster")
  const match =
    /^\/(?:api\/v1|apis\/([\w.]+)\/v1)\/namespaces\/([^/]+)\/(pods|networkpolicies)(?:\/([^/]+))?(?:\/(exec))?$/.exec(
      url.pathname
    )
  if (match === null) return undefined
  const [, group = "", namespace = "", resource = "", name = "", part] = match
  const verb = method === "GET" ? (name === "" ? "list" : "get") : method === "POST" ? "create" : method.toLowerCase()
  return {
    verb,
    group,
    namespace,
    resource: part === undefined ? resource : `${resource}/${part}`,
    name,
    query: url.searchParams
  }
}

const certify = (folder: string): { readonly key: string; readonly cert: string } => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "ca.crt")]
  const subject = ["-subj", "/CN=kubernetes", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject]
  execFileSync("openssl", args, { stdio: "ignore" })
  return { key, cert }
}

export const startKubernetes = async (
  podman: Podman,
  root: string,
  mounts: ReadonlyArray<string>
): Promise<FakeKubernetes> => {
  const serviceAccountDir = join(root, "serviceaccount")
  mkdirSync(serviceAccountDir, { recursive: true })
  const { cert, key } = certify(serviceAccountDir)
  writeFileSync(join(serviceAccountDir, "token"), "account-token\n")
  writeFileSync(join(serviceAccountDir, "namespace"), sandboxNamespace)
  const objects = parseAllDocuments(readFileSync(manifests, "utf8")).map((document) =>
    Schema.decodeUnknownSync(Manifest)(document.toJS())
  )
  const rules = objects.filter(({ kind }) => kind === "Role").flatMap(({ rules: some = [] }) => some)
  const initial: Behaviour = {
    enforces: true,
    policies: objects.filter(
      ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.namespace === sandboxNamespace
    ),
    token: "account-token"
  }
  let behaviour = initial
  const [requests, violations]: [Array<string>, Array<string>] = [[], []]

  const refuse = (call: Call | undefined, request: IncomingMessage): readonly [number, string] | undefined => {
    if (request.headers.authorization !== `Bearer ${behaviour.token}`) return [401, "Unauthorized"]
    if (call === undefined) return [404, "the server could not find the requested resource"]
    const { group, namespace, query, resource, verb } = call
    const isAllowed = rules.some(
      (rule) => rule.apiGroups.includes(group) && rule.resources.includes(resource) && rule.verbs.includes(verb)
    )
    if (!isAllowed || namespace !== sandboxNamespace)
      return [403, `${resource} is forbidden: the account cannot ${verb} in namespace "${namespace}"`]
    for (const name of query.keys())
      if (!(parameters[`${verb} ${resource}`] ?? []).includes(name))
        violations.push(`${verb} ${resource}: parameter ${name}`)
    return undefined
  }

  const respond = async (call: Call, request: IncomingMessage): Promise<readonly [number, object]> => {
    const body = await text(request)
    const { name, query, resource, verb } = call
    const missing = [404, { kind: "Status", message: `pods "${name}" not found` }] as const
    if (resource === "networkpolicies") return [200, { kind: "NetworkPolicyList", items: behaviour.policies }]
    if (verb === "list") return [200, { kind: "PodList", items: await pods.list(query.get("labelSelector") ?? "") }]
    if (verb === "get") {
      const pod = await pods.find(name)
      return pod === undefined ? missing : [200, pod]
    }
    if (verb === "delete") {
      const options = Schema.decodeUnknownSync(
        Schema.fromJsonString(
          Schema.Struct({
            gracePeriodSeconds: Schema.Int,
            kind: Schema.Literal("DeleteOptions"),
            apiVersion: Schema.Literal("v1")
          }),
          {}
        )
      )(body)
      return pods.remove(name, options.gracePeriodSeconds) ? [200, { kind: "Pod", metadata: { name } }] : missing
    }
    const pod: Pod = JSON.parse(body)
    try {
      new PodModel(JSON.parse(body)).validate()
    } catch (cause) {
      violations.push(`create pods: ${String(cause)}`)
    }
    const problems = findPodProblems(pod)
    if (problems.length > 0)
      return [403, { kind: "Status", message: `violates PodSecurity "restricted": ${problems.join(", ")}` }]
    const isIsolated = behaviour.enforces && behaviour.policies.length > 0
    return pods.create(pod, isIsolated) ? [201, pod] : [409, { kind: "Status", message: "already exists" }]
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = parseCall(request.method ?? "", request.url ?? "")
    const refused = refuse(call, request)
    const [status, body] =
      refused === undefined && call !== undefined
        ? await respond(call, request)
        : [refused?.[0] ?? 404, { kind: "Status", message: refused?.[1] }]
    requests.push(`${call?.verb} ${call?.resource} ${status}`)
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }

  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    handle(request, response).catch((cause: unknown) => {
      violations.push(String(cause))
      response.writeHead(500).end()
    })
  })
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has("v5.channel.k8s.io") ? "v5.channel.k8s.io" : false)
  })
  server.on("upgrade", (request, socket, head) => {
    const call = parseCall("GET", request.url ?? "")
    const refused = refuse(call, request)
    requests.push(`${call?.verb} ${call?.resource} ${refused?.[0] ?? 101}`)
    if (refused !== undefined || call?.resource !== "pods/exec")
      return void socket.end(`HTTP/1.1 ${refused?.[0] ?? 404} Refused\r\n\r\n`)
    const { name, query } = call
    sockets.handleUpgrade(request, socket, head, (client) => {
      pods.exec(client, name, query.get("container") ?? "", query.getAll("command")).catch(() => client.close())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const environment = {
    KUBERNETES_SERVICE_HOST: "127.0.0.1",
    KUBERNETES_SERVICE_PORT: `${(server.address() as AddressInfo).port}`
  }
  const pods = new PodRunner(podman, join(root, "pods"), environment, mounts)
  return {
    environment,
    serviceAccountDir,
    pods,
    requests,
    violations,
    change: (change) => (behaviour = { ...behaviour, ...change }),
    reset: () => {
      behaviour = initial
      requests.length = 0
    },
    stop: async () => {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await pods.close()
    }
  }
}

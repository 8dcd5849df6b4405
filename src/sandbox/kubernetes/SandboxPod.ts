/** The pod of one sandbox: the agent's container, and one with the sockets, which fills the repository. Pure. */
import type { Container, Pod, SecurityContext, Volume, VolumeMount } from "kubernetes-types/core/v1.d.ts"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import { defaultImage } from "../drivers/DefaultImage.ts"
import { insideFile, ownPaths, partsFolder } from "../Locations.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import { agentContainer, socketsContainer } from "./PodView.ts"

export interface PodSettings {
  readonly mark: string
  readonly image: string
  /** Texts of the programs of `partsFolder`. */
  readonly programs: Readonly<Record<string, string>>
  /** User and group of the agent, not root and not that of another sandbox: the kernel counts processes per user. */
  readonly user: number
  readonly cluster: Pick<
    SandboxConfig["kubernetes"],
    "image_pull_secrets" | "node_selector" | "runtime_class" | "start_timeout_seconds"
  >
}

/** Folder with the sockets, which both containers mount. */
export const linkFolder = `${partsFolder}-link`
/** User of the sidecar, and group of both. */
const sidecarUser = 10_000

/** Memory of `Inside.ts`, so that the limit is the agent's own. */
const insideBytes = 50_331_648
/** Threads of `Inside.ts`. */
const insideTasks = 16
/** Tasks between the limit that is reported and the one that the kernel enforces. */
const spareTasks = 16

export const sandboxLabels = (mark: string): Readonly<Record<string, string>> => ({
  app: "aicr-sandbox",
  "aicr/sandbox": mark
})
/** Selects the pods of all sandboxes. */
export const sandboxSelector = "app=aicr-sandbox"
export const podName = (mark: string): string => `aicr-sandbox-${mark}`

/** Processes and threads above which the program is ended. */
export const maxTasks = (processes: number): number => processes + insideTasks

/** Folders of images and runtimes that are writable otherwise. */
const closedFolders = ["/dev/mqueue", "/dev/shm", "/run/lock", "/var/tmp"]

const confined: SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] }
}

const usersText = (user: number): string =>
  [`root:x:0:0::/:/sbin/nologin`, `agent:x:${user}:${sidecarUser}::${ownPaths.scratch}:/bin/sh`, ""].join("\n")

const annotationOf = (name: string): string => `aicr/${name}`

const mount = (name: string, mountPath: string, more: Partial<VolumeMount> = {}): VolumeMount => ({
  name,
  mountPath,
  readOnly: true,
  ...more
})

const volumes = (files: ReadonlyArray<string>, fileBytes: number): Array<Volume> => [
  {
    name: "parts",
    downwardAPI: {
      defaultMode: 0o444,
      items: files.map((path) => ({ path, fieldRef: { fieldPath: `metadata.annotations['${annotationOf(path)}']` } }))
    }
  },
  { name: "link", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
  { name: "repository", emptyDir: {} },
  { name: "scratch", emptyDir: { medium: "Memory", sizeLimit: `${fileBytes}` } },
  { name: "closed", emptyDir: { medium: "Memory", sizeLimit: "4Ki" } }
]

const sidecar = ({ cluster, image }: PodSettings, pull: Container["imagePullPolicy"]): Container => ({
  name: socketsContainer,
  image,
  imagePullPolicy: pull ?? "IfNotPresent",
  command: ["node", `${partsFolder}/hold.mjs`, linkFolder, `${cluster.start_timeout_seconds * 1000}`],
  securityContext: { ...confined, runAsUser: sidecarUser, runAsGroup: sidecarUser },
  resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "1", memory: "192Mi" } },
  volumeMounts: [
    mount("parts", partsFolder),
    mount("link", linkFolder, { readOnly: false }),
    mount("repository", ownPaths.repository, { readOnly: false })
  ]
})

const agent = (
  { limits }: SandboxRequest,
  { image, user }: PodSettings,
  pull: Container["imagePullPolicy"]
): Container => {
  const tasks = maxTasks(limits.processes) + spareTasks
  const script = [
    `ulimit -c 0; ulimit -f ${Math.ceil(limits.fileBytes / 512)}`,
    // Shells spell the limit of processes `-u` (bash) or `-p` (dash).
    `ulimit -u ${tasks} 2>/dev/null || ulimit -p ${tasks}`,
    `exec node ${insideFile} ${linkFolder}`
  ]
  return {
    name: agentContainer,
    image,
    imagePullPolicy: pull ?? "IfNotPresent",
    command: ["/bin/sh", "-c", script.join("\n")],
    workingDir: "/",
    securityContext: { ...confined, runAsUser: user, runAsGroup: sidecarUser },
    resources: {
      requests: { cpu: `${Math.min(limits.cpus, 0.25)}`, memory: `${limits.memoryBytes + insideBytes}` },
      limits: { cpu: `${limits.cpus}`, memory: `${limits.memoryBytes + insideBytes}`, "ephemeral-storage": "64Mi" }
    },
    volumeMounts: [
      mount("parts", partsFolder),
      mount("parts", "/etc/passwd", { subPath: "passwd" }),
      mount("link", linkFolder),
      mount("repository", ownPaths.repository),
      mount("scratch", ownPaths.scratch, { readOnly: false }),
      ...closedFolders.map((folder) => mount("closed", folder))
    ]
  }
}

export const sandboxPod = (request: SandboxRequest, settings: PodSettings): Pod => {
  const { cluster, image, mark, programs, user } = settings
  const files: Readonly<Record<string, string>> = { ...programs, passwd: usersText(user) }
  // A registry may have another image with the name of the default.
  const pull = image === defaultImage ? "Never" : "IfNotPresent"
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podName(mark),
      labels: sandboxLabels(mark),
      annotations: {
        "aicr/run": request.labels.run,
        "aicr/pass": request.labels.pass,
        ...Object.fromEntries(Object.entries(files).map(([path, text]) => [annotationOf(path), text]))
      }
    },
    spec: {
      restartPolicy: "Never",
      // The bound of a pod whose service and sidecar are gone.
      activeDeadlineSeconds: Math.ceil(request.limits.timeMillis / 1000) + cluster.start_timeout_seconds + 60,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "None",
      dnsConfig: { nameservers: ["127.0.0.1"] },
      hostname: "sandbox",
      securityContext: { runAsNonRoot: true, fsGroup: sidecarUser, seccompProfile: { type: "RuntimeDefault" } },
      ...(cluster.runtime_class === undefined ? {} : { runtimeClassName: cluster.runtime_class }),
      nodeSelector: { ...cluster.node_selector },
      imagePullSecrets: cluster.image_pull_secrets.map((name) => ({ name })),
      containers: [sidecar(settings, pull), agent(request, settings, pull)],
      volumes: volumes(Object.keys(files), request.limits.fileBytes)
    }
  }
}

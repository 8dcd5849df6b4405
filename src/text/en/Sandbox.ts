/** Reasons for which an agent CLI is not installed, or its sandbox is refused, cannot be started, or has ended. */
import type { sandboxReasons } from "../../domain/reasons/Sandbox.ts"

export const sandboxTexts = {
  BubblewrapMissing:
    "bubblewrap (bwrap) is not installed, and sandbox kind native needs it; install it (Debian: apt-get install bubblewrap) or select another {=sandbox.kind}",
  ArchitectureUnfiltered:
    "sandbox kind native has no filter of system calls for the processor architecture {arch}, only for x64 and arm64; select another {=sandbox.kind}",
  SetprivMissing:
    "the service runs as root, and sandbox kind native needs setpriv to start agents as another user; start the service as a user without rights, or install setpriv (Debian: apt-get install util-linux)",
  IsolationRefused:
    "bubblewrap ({program}) cannot isolate programs on this machine: {why}; permit user namespaces to the service (in a container also a new /proc) or select another {=sandbox.kind}",
  RootWithoutSandbox:
    "the service runs as root, and an agent without a sandbox would too; start the service as a user without rights, or install bubblewrap and remove {=sandbox.native.unconfined}",
  AgentsWithoutEnd:
    "nothing on this machine could end all processes of an agent without a sandbox: a process namespace is missing ({why}), and a control group too; permit user namespaces to the service and install unshare (Debian: apt-get install util-linux), or set Delegate=yes in its systemd unit",
  UnshareMissing: "unshare is not installed",
  WorkspaceUnconfined:
    "workspace {workspace}: without bubblewrap, agent CLIs run WITHOUT A SANDBOX: they can read every file and reach every network that the service can; install bubblewrap (bwrap) and remove the field",
  FolderNotPrepared: "cannot prepare {folder}: {why}",
  FolderNotCreated: "cannot create a folder in {folder}: {why}",
  FolderNotRemoved: "cannot remove {folder}: {why}",
  SandboxPathRelative: 'the path "{path}" of a sandbox is not absolute',
  InstallationIsRoot: "the root folder cannot be the installation of an agent",
  FileOutsideScratch: 'the file "{path}" is not inside of the scratch folder',
  SandboxKindsContradict: "{=sandbox.kind} {kind} contradicts {=sandbox.engine} {engine}; remove one of them",
  EngineSilent: "the engine of sandbox kind {kind} does not respond at {socket}: {why}; start it",
  EngineVariableInvalid:
    "{variable} is not a unix socket, and sandbox kind {kind} needs an engine on this machine; set it to unix:///path",
  EngineMissing: "sandbox kind {kind} has no engine: no socket at {path}[[ or {other}]]; {next}, or set {variable}",
  EngineNotThere: "sandbox kind {kind} has no engine: no socket at {path}; {next}, or correct {variable}",
  PodmanNext: "start the API of podman (systemctl enable --now podman.socket)",
  DockerNext: "install and start docker",
  DockerSocketNext: "mount the socket of the host's docker at {path}",
  EngineRefuses: "the container engine refused the sandbox: {why}",
  AgentImageMissing:
    "image {image} does not exist on this machine; build it with docker build -t {image} -f deploy/agents/Dockerfile . (or podman build), or set {=sandbox.image}",
  ImageMissing: "image {image} of {=sandbox.image} does not exist on this machine, and cannot be pulled: {why}",
  PathNotMounted:
    "{path} is on no mount of the service's container, and the engine can mount folders of its host only; mount the data folder from the host",
  ContainerNotEnded: "the engine did not end the container",
  ClusterMissing:
    "sandbox kind kubernetes has no cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; run the service in a pod with the service account of deploy/kubernetes-sandboxes",
  ServiceAccountUnreadable:
    "sandbox kind kubernetes has no service account: {path} cannot be read; run the service in a pod with the service account of deploy/kubernetes-sandboxes, or set {=sandbox.kubernetes.service_account_dir}",
  KubernetesRefuses: "the Kubernetes API refused the sandbox: {why}",
  KubernetesForbids:
    "the Kubernetes API refused the sandbox: {why}; the service account needs the Role of deploy/kubernetes-sandboxes",
  NamespaceOpen:
    "pods of sandboxes in namespace {namespace} have a network: {why}; apply deploy/kubernetes-sandboxes to this namespace, and no other policy for its pods",
  PolicyPermits: "NetworkPolicy {policy} permits connections ({direction})",
  PolicyMissing: "no NetworkPolicy refuses connections ({direction})",
  KubernetesWithoutMounts:
    "sandbox kind kubernetes cannot mount folders of the service; put the agents into {=sandbox.image}",
  ClusterImageUnusable: "image {image} cannot be used by the cluster: {why}; correct {=sandbox.image}",
  ClusterAgentImageUnusable:
    "image {image} cannot be used by the cluster: {why}; build deploy/agents for the nodes of the cluster, and set {=sandbox.image}",
  PodNotStarted: "pod {pod} did not start: {why}",
  PodLate:
    "pod {pod} did not start within {seconds} s: {why}; see kubectl describe pod, or raise {=sandbox.kubernetes.start_timeout_seconds}",
  PodUnusable: "pod {pod} cannot be used: {why}",
  PodNetworkOpen:
    "pod {pod} cannot be used: the network of the sandbox is open; its cluster does not enforce NetworkPolicy, use a network plugin that does",
  PodDeletedAtStart: "pod {pod} was deleted while it started",
  PodDeleted: "its pod was deleted",
  PodFailed: "the pod failed",
  PodNotEnded: "the cluster did not end the pod",
  PodWithoutStatus: "no status",
  PodContainersEnded: "its containers have ended",
  ContainerStuck: "container {name}: {state}[[: {why}]]",
  ContainerEnded: "container {name} ended with {code}",
  KernelUnset: "sandbox kind microvm needs a kernel; set {=sandbox.microvm.kernel}",
  RootImageUnset: "sandbox kind microvm needs a file system with the agents; set {=sandbox.microvm.root_image}",
  MicrovmFileUnreadable: "{file} of {=sandbox.microvm.{field}} cannot be read; correct the path",
  KvmUnusable:
    "sandbox kind microvm cannot use /dev/kvm; permit it to the service, or set {=sandbox.microvm.emulation}, which is slow",
  BusyboxMissing:
    "sandbox kind microvm needs busybox as one static file; install it (Debian: apt-get install busybox-static)",
  MonitorMissing:
    "sandbox kind microvm needs Firecracker (firecracker) or QEMU (Debian: apt-get install qemu-system-x86) in the PATH of the service",
  MicrovmNotPrepared: "the virtual machine cannot be prepared: {why}",
  MicrovmWithoutMounts:
    "sandbox kind microvm cannot mount folders of this machine; put the agents into {=sandbox.microvm.root_image}",
  MicrovmUnusable: "the virtual machine cannot be used: {why}; check kernel, modules and image of {=sandbox.microvm}",
  SandboxLinkEnded: "its connection ended",
  StreamsEnded: "its streams ended",
  NotConnectedWithin: "it was not connected within {seconds} s",
  NotStartedWithin: "it did not start within {seconds} s",
  EndedBySignal: "it was ended by {signal}",
  ProcessesLeft: "{count} processes could not be ended",
  AgentOverMemory: "the agent needs over {megabytes} MiB of memory; raise {=sandbox.limits.memory_mb}",
  AgentOverProcesses: "the agent started over {count} processes and threads; raise {=sandbox.limits.processes}",
  AgentOverTime: "the agent took over {seconds} s; raise {=agent.timeout_seconds}",
  AgentOverOutput: "the agent printed over {megabytes} MiB; raise {=sandbox.limits.output_mb}",
  AgentCancelled: "the agent was cancelled",
  AgentNotStarted: "the agent could not be started: {why}",
  SandboxEnded: "the sandbox ended before the agent: {why}",
  ExitCode: "exit code {code}",
  ExitCodeUnknown: "exit code unknown",
  AgentNotInstalled: "agent mode {mode} is not installed in {folder}; {next}",
  AgentFileMissing: "{file} of agent mode {mode} {version} does not exist; {next}",
  AgentInstallNext: "run aicr agent install {mode}",
  AgentBuildNext: "{mode} has no release on npm; put an own build of it as the manual describes (docs/agents.md)",
  AgentFolderUnwritable:
    "cannot write to the folder {folder}: {why}. Name a folder that this user can create and write in SVC_AGENTS_DIR or --dir",
  AgentInstallFailed: "{package} could not be installed in {folder}: {why}",
  EngineWithoutLimits:
    "the engine at {socket} cannot limit memory, processors and processes of its containers. Without root, it needs control groups of version 2 (kernel option systemd.unified_cgroup_hierarchy=1) and the service manager of its user (loginctl enable-linger), to which cpu, memory and pids are delegated (Delegate= of user@.service); or use an engine of root, or {=sandbox.kind} native"
} as const satisfies Record<keyof typeof sandboxReasons, string>

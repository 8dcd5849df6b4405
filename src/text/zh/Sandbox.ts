/** Reasons for which an agent CLI is not installed, or its sandbox is refused, cannot be started, or has ended. */
import type { sandboxReasons } from "../../domain/reasons/Sandbox.ts"

export const sandboxTexts = {
  BubblewrapMissing:
    "未安装 bubblewrap（bwrap），而沙箱类型 native 需要它；请安装（Debian：apt-get install bubblewrap）或选择其他 {=sandbox.kind}",
  ArchitectureUnfiltered:
    "沙箱类型 native 没有处理器架构 {arch} 的系统调用过滤器，只有 x64 和 arm64 的；请选择其他 {=sandbox.kind}",
  SetprivMissing:
    "服务以 root 运行，沙箱类型 native 需要 setpriv 才能以其他用户启动 agent；请以无特权用户启动服务，或安装 setpriv（Debian：apt-get install util-linux）",
  IsolationRefused:
    "bubblewrap（{program}）无法在本机隔离程序：{why}；请允许服务使用用户命名空间（在容器中还需要新的 /proc），或选择其他 {=sandbox.kind}",
  RootWithoutSandbox:
    "服务以 root 运行，没有沙箱的 agent 也会如此；请以无特权用户启动服务，或安装 bubblewrap 并移除 {=sandbox.native.unconfined}",
  AgentsWithoutEnd:
    "本机无法结束没有沙箱的 agent 的所有进程：缺少进程命名空间（{why}），也没有控制组；请允许服务使用用户命名空间并安装 unshare（Debian：apt-get install util-linux），或在其 systemd 单元中设置 Delegate=yes",
  UnshareMissing: "未安装 unshare",
  WorkspaceUnconfined:
    "工作区 {workspace}：没有 bubblewrap，agent CLI 将在没有沙箱的情况下运行：它们可以读取服务能读取的所有文件，并访问服务能访问的所有网络；请安装 bubblewrap（bwrap）并移除此字段",
  FolderNotPrepared: "无法准备 {folder}：{why}",
  FolderNotCreated: "无法在 {folder} 中创建文件夹：{why}",
  FolderNotRemoved: "无法移除 {folder}：{why}",
  SandboxPathRelative: "沙箱的路径“{path}”不是绝对路径",
  InstallationIsRoot: "根文件夹不能是 agent 的安装位置",
  FileOutsideScratch: "文件“{path}”不在临时文件夹中",
  SandboxKindsContradict: "{=sandbox.kind} {kind} 与 {=sandbox.engine} {engine} 矛盾；请移除其中之一",
  EngineSilent: "沙箱类型 {kind} 的引擎在 {socket} 没有响应：{why}；请启动它",
  EngineVariableInvalid: "{variable} 不是 unix 套接字，而沙箱类型 {kind} 需要本机的引擎；请设为 unix:///path",
  EngineMissing: "沙箱类型 {kind} 没有引擎：{path}[[ 或 {other}]] 没有套接字；{next}，或设置 {variable}",
  EngineNotThere: "沙箱类型 {kind} 没有引擎：{path} 没有套接字；{next}，或更正 {variable}",
  PodmanNext: "请启动 podman 的 API（systemctl enable --now podman.socket）",
  DockerNext: "请安装并启动 docker",
  DockerSocketNext: "请将所在机器 docker 的套接字挂载到 {path}",
  EngineRefuses: "容器引擎拒绝了沙箱：{why}",
  AgentImageMissing:
    "本机没有镜像 {image}；请用 docker build -t {image} -f deploy/agents/Dockerfile . 构建（或 podman build），或设置 {=sandbox.image}",
  ImageMissing: "本机没有 {=sandbox.image} 的镜像 {image}，且无法拉取：{why}",
  PathNotMounted: "{path} 不在服务容器的任何挂载上，而引擎只能挂载所在机器的文件夹；请从所在机器挂载数据文件夹",
  ContainerNotEnded: "引擎没有结束容器",
  ClusterMissing:
    "沙箱类型 kubernetes 没有集群：KUBERNETES_SERVICE_HOST 和 KUBERNETES_SERVICE_PORT 未设置；请在使用 deploy/kubernetes-sandboxes 服务账号的 pod 中运行服务",
  ServiceAccountUnreadable:
    "沙箱类型 kubernetes 没有服务账号：无法读取 {path}；请在使用 deploy/kubernetes-sandboxes 服务账号的 pod 中运行服务，或设置 {=sandbox.kubernetes.service_account_dir}",
  KubernetesRefuses: "Kubernetes API 拒绝了沙箱：{why}",
  KubernetesForbids: "Kubernetes API 拒绝了沙箱：{why}；服务账号需要 deploy/kubernetes-sandboxes 的 Role",
  NamespaceOpen:
    "命名空间 {namespace} 中沙箱的 pod 有网络：{why}；请对该命名空间应用 deploy/kubernetes-sandboxes，且不为其 pod 应用其他策略",
  PolicyPermits: "NetworkPolicy {policy} 允许连接（{direction}）",
  PolicyMissing: "没有 NetworkPolicy 拒绝连接（{direction}）",
  KubernetesWithoutMounts: "沙箱类型 kubernetes 不能挂载服务的文件夹；请将 agent 放入 {=sandbox.image}",
  ClusterImageUnusable: "集群无法使用镜像 {image}：{why}；请更正 {=sandbox.image}",
  ClusterAgentImageUnusable:
    "集群无法使用镜像 {image}：{why}；请为集群的节点构建 deploy/agents，并设置 {=sandbox.image}",
  PodNotStarted: "pod {pod} 没有启动：{why}",
  PodLate:
    "pod {pod} 在 {seconds} 秒内没有启动：{why}；请查看 kubectl describe pod，或提高 {=sandbox.kubernetes.start_timeout_seconds}",
  PodUnusable: "pod {pod} 不可用：{why}",
  PodNetworkOpen: "pod {pod} 不可用：沙箱的网络是开放的；其集群不执行 NetworkPolicy，请使用会执行它的网络插件",
  PodDeletedAtStart: "pod {pod} 在启动时被删除",
  PodDeleted: "其 pod 已被删除",
  PodFailed: "pod 失败",
  PodNotEnded: "集群没有结束 pod",
  PodWithoutStatus: "没有状态",
  PodContainersEnded: "其容器已结束",
  ContainerStuck: "容器 {name}：{state}[[：{why}]]",
  ContainerEnded: "容器 {name} 以 {code} 结束",
  KernelUnset: "沙箱类型 microvm 需要内核；请设置 {=sandbox.microvm.kernel}",
  RootImageUnset: "沙箱类型 microvm 需要包含 agent 的文件系统；请设置 {=sandbox.microvm.root_image}",
  MicrovmFileUnreadable: "无法读取 {=sandbox.microvm.{field}} 的 {file}；请更正路径",
  KvmUnusable: "沙箱类型 microvm 不能使用 /dev/kvm；请允许服务使用它，或设置 {=sandbox.microvm.emulation}（速度慢）",
  BusyboxMissing: "沙箱类型 microvm 需要静态的 busybox；请安装（Debian：apt-get install busybox-static）",
  MonitorMissing:
    "沙箱类型 microvm 需要服务的 PATH 中有 Firecracker（firecracker）或 QEMU（Debian：apt-get install qemu-system-x86）",
  MicrovmNotPrepared: "无法准备虚拟机：{why}",
  MicrovmWithoutMounts: "沙箱类型 microvm 不能挂载本机的文件夹；请将 agent 放入 {=sandbox.microvm.root_image}",
  MicrovmUnusable: "虚拟机不可用：{why}；请检查 {=sandbox.microvm} 的内核、模块和镜像",
  SandboxLinkEnded: "其连接已结束",
  StreamsEnded: "其流已结束",
  NotConnectedWithin: "{seconds} 秒内没有连接",
  NotStartedWithin: "{seconds} 秒内没有启动",
  EndedBySignal: "被 {signal} 结束",
  ProcessesLeft: "{count} 个进程无法结束",
  AgentOverMemory: "agent 需要超过 {megabytes} MiB 内存；请提高 {=sandbox.limits.memory_mb}",
  AgentOverProcesses: "agent 启动了超过 {count} 个进程和线程；请提高 {=sandbox.limits.processes}",
  AgentOverTime: "agent 运行超过 {seconds} 秒；请提高 {=agent.timeout_seconds}",
  AgentOverOutput: "agent 输出超过 {megabytes} MiB；请提高 {=sandbox.limits.output_mb}",
  AgentCancelled: "agent 已取消",
  AgentNotStarted: "无法启动 agent：{why}",
  SandboxEnded: "沙箱在 agent 之前结束：{why}",
  ExitCode: "退出码 {code}",
  ExitCodeUnknown: "退出码未知",
  AgentNotInstalled: "agent 模式 {mode} 未安装在 {folder}；{next}",
  AgentFileMissing: "agent 模式 {mode} {version} 的 {file} 不存在；{next}",
  AgentInstallNext: "请运行 aicr agent install {mode}",
  AgentBuildNext: "{mode} 在 npm 上没有发布版本；请按手册放入自行构建的版本（docs/agents.md）",
  AgentFolderUnwritable:
    "无法写入文件夹 {folder}：{why}。请在 SVC_AGENTS_DIR 或 --dir 中指定该用户可以创建和写入的文件夹",
  AgentInstallFailed: "无法在 {folder} 中安装 {package}：{why}",
  EngineWithoutLimits:
    "{socket} 的引擎不能限制其容器的内存、处理器和进程。没有 root 时，它需要版本 2 的控制组（内核选项 systemd.unified_cgroup_hierarchy=1）以及其用户的服务管理器（loginctl enable-linger），并把 cpu、memory 和 pids 委派给它（user@.service 的 Delegate=）；也可以使用 root 的引擎，或 {=sandbox.kind} native"
} as const satisfies Record<keyof typeof sandboxReasons, string>

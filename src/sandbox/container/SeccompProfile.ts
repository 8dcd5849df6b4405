/**
 * The filter of system calls of podman's containers, as a profile of its form: the calls of native sandboxes. Podman's own profile permits the
 * keyrings of the kernel, which all containers with the same user share, with the processes of that user outside. Sizes of sockets and memory
 * without a process count as memory of the container, so their calls are not ignored. Pure.
 */
import { domains, families, namespaceFlags, netlink } from "../native/Seccomp.ts"
import { permittedCalls } from "../native/SystemCalls.ts"

const argument = (index: number, value: number, op = "SCMP_CMP_EQ") => ({ index, value, valueTwo: 0, op })
const permit = (names: ReadonlyArray<string>, ...args: ReadonlyArray<ReturnType<typeof argument>>) => ({
  names,
  action: "SCMP_ACT_ALLOW",
  args
})

export const seccompProfile: string = JSON.stringify({
  defaultAction: "SCMP_ACT_ERRNO",
  // As on a kernel without the call, so that programs use another.
  defaultErrnoRet: 38,
  archMap: ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"].map((architecture) => ({ architecture, subArchitectures: [] })),
  syscalls: [
    permit([...permittedCalls.keys(), "prctl", "setsockopt"]),
    permit(["clone"], argument(0, namespaceFlags, "SCMP_CMP_MASKED_EQ")),
    ...families.map((family) => permit(["socket"], argument(0, family))),
    permit(["socket"], argument(0, netlink), argument(2, 0)),
    ...domains.map((domain) => permit(["personality"], argument(0, domain)))
  ]
})

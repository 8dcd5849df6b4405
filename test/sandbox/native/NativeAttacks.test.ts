/** Attacks of a program in a native sandbox on the kernel of the machine, as each user that a service may have. */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { resolve } from "../../../src/config/fields/Defaults.ts"
import { SandboxConfig } from "../../../src/config/schema/Agent.ts"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { nativeDriver } from "../../../src/sandbox/native/Native.ts"
import { provide } from "../../harness/Provide.ts"
import { makeFixture, processesWith, start, uniqueSeconds, using } from "../Fixture.ts"
import type { Fixture } from "../Fixture.ts"
import { isRoot, otherUser, runInService } from "../OtherUser.ts"
import { attempts, attemptsProgram } from "../SystemCallAttempts.ts"

const path = `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}`
const environment = { PATH: path }
const config = { kind: "native" } as const
const users: ReadonlyArray<readonly [name: string, user: number | undefined]> = isRoot
  ? [
      ["root", undefined],
      ["another user", otherUser]
    ]
  : [["not root", undefined]]

/** A 32-bit program, which makes the call `getpid` of that architecture and ends with 0. */
const program32 = (): string => {
  const header = Buffer.alloc(84)
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]).copy(header)
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(3, 18)
  header.writeUInt32LE(1, 20)
  header.writeUInt32LE(0x0804_8054, 24)
  header.writeUInt32LE(52, 28)
  header.writeUInt16LE(52, 40)
  header.writeUInt16LE(32, 42)
  header.writeUInt16LE(1, 44)
  // mov eax, 20; int 0x80; mov eax, 1; xor ebx, ebx; int 0x80
  const code = Buffer.from("b814000000cd80b80100000031dbcd80", "hex")
  const size = header.length + code.length
  for (const [at, value] of [1, 0, 0x0804_8000, 0x0804_8000, size, size, 5, 4096].entries())
    header.writeUInt32LE(value, 52 + 4 * at)
  return Buffer.concat([header, code]).toString("hex")
}

/** Returns whether the kernel of this machine starts such a program outside of a sandbox. */
const runsPrograms32 = (): boolean => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-program-"))
  try {
    const file = join(folder, "program")
    writeFileSync(file, Buffer.from(program32(), "hex"), { mode: 0o755 })
    return spawnSync(file).status === 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe.each(users)("a program in the sandbox of a service that is %s", (_, user) => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture(user)
  })
  afterAll(() => fixture.close())
  const service = (
    program: Parameters<typeof runInService>[2],
    options: { readonly key?: string } = {},
    installation: ReadonlyArray<string> = []
  ) => runInService(fixture, { config, environment, installation }, program, {}, { user, ...options })

  it("cannot have the kernel of the machine start a program", async () => {
    const pattern = "/proc/sys/kernel/core_pattern"
    const before = readFileSync(pattern, "utf8")
    const file = `/tmp/aicr-escaped-${uniqueSeconds()}`
    const script = [
      "ulimit -c unlimited",
      `{ echo '|/usr/bin/touch ${file}' >${pattern}; } 2>/dev/null && echo written`,
      "sh -c 'kill -SEGV $$'",
      "for file in kernel/panic kernel/poweroff_cmd kernel/modprobe vm/drop_caches fs/suid_dumpable; do",
      "  { : >>/proc/sys/$file; } 2>/dev/null && echo $file",
      "done",
      "{ : >>/proc/sysrq-trigger; } 2>/dev/null && echo sysrq; true"
    ]
    try {
      const { lines } = await service(script.join("\n"))
      expect(lines).toEqual([])
      expect(existsSync(file)).toBe(false)
    } finally {
      if (readFileSync(pattern, "utf8") !== before) writeFileSync(pattern, before)
    }
  })

  it("finds no key of the service", async () => {
    const secret = "s3cret-of-a-key"
    const [keyctl] = process.arch === "arm64" ? [219] : [250]
    const script = `cat /proc/keys /proc/key-users; perl -e '
      $id = syscall(${keyctl}, 10, -3, $type = "user", $name = "aicr-test", 0);
      $text = "x" x 100; print "read: $text\\n" if $id > 0 && syscall(${keyctl}, 11, $id, $text, 100) > 0;
      print "search: ", 0 + $!, "\\n"'`
    const { lines } = await service(script, { key: secret })
    expect(lines).toEqual(["search: 38"])
  })

  it("makes only the system calls that are permitted", async () => {
    const { exit, lines } = await service(attemptsProgram)
    expect({ exit, lines }).toEqual({
      exit: { reason: "exited", code: 0 },
      lines: attempts.map(([name, result]) => `${name} ${result}`)
    })
  })

  it.runIf(process.arch === "x64")("makes no calls of other architectures", async () => {
    const x32 = 0x4000_0000
    const text = `require("node:fs").writeFileSync("/tmp/p", Buffer.from("${program32()}", "hex"), { mode: 0o755 })`
    const { lines } = await service(
      `node -e '${text}'; /tmp/p 2>/dev/null; echo $?; perl -e 'print syscall(${x32 + 39}), " ", 0 + $!, "\\n"'`
    )
    // 128 plus the number of SIGSYS. A kernel without 32-bit programs refuses to start one everywhere.
    expect(lines).toEqual([runsPrograms32() ? "159" : "126", "-1 38"])
  })

  it("reads no file of root that other users cannot read", async () => {
    const installation = join(fixture.root, "installation")
    mkdirSync(installation, { recursive: true })
    writeFileSync(join(installation, "secret"), "of root\n", { mode: 0o600 })
    writeFileSync(join(installation, "program"), "readable\n", { mode: 0o644 })
    chmodSync(installation, 0o755)
    const { lines } = await service(`cat ${installation}/program; cat ${installation}/secret 2>/dev/null`, {}, [
      installation
    ])
    expect(lines).toEqual(isRoot ? ["readable"] : ["readable", "of root"])
  })
})

/** The processes of a namespace, with their users, groups and further groups. */
const identitiesIn = (namespace: string): ReadonlyArray<string> =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || readlinkSync(`/proc/${pid}/ns/pid`) !== namespace) return []
      const status = readFileSync(`/proc/${pid}/status`, "utf8")
      return [(status.match(/^(?:Uid|Gid|Groups):.*$/gm) ?? []).join(" ").replaceAll(/\s+/g, " ").trim()]
    } catch {
      return []
    }
  })

describe.runIf(isRoot)("a service that is root", () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture()
  })
  afterAll(() => fixture.close())

  it("gives each pass a user of its own, for all its processes", async () => {
    const native = { first_uid: 1_700_000_000 }
    const kind = { config: { ...config, native }, drivers: makeDrivers(environment) }
    const uid = Effect.gen(function* () {
      const seconds = uniqueSeconds()
      const { lines } = yield* start(fixture, kind, `echo started; sleep ${seconds}; true`)
      yield* Stream.runHead(lines)
      const [pid = 0] = processesWith(seconds)
      const identities = identitiesIn(readlinkSync(`/proc/${pid}/ns/pid`))
      expect(identities.length).toBeGreaterThan(2)
      const [identity = ""] = identities
      expect(new Set(identities)).toEqual(new Set([identity]))
      const [, id = "", group = ""] = /^Uid: (\d+) \1 \1 \1 Gid: (\d+) \2 \2 \2 Groups:$/.exec(identity) ?? []
      expect(group).toBe(id)
      return Number(id)
    })
    const [one = 0, other = 0] = await using(fixture, kind, Effect.all([uid, uid]))
    for (const id of [one, other]) expect(Math.floor((id - 1_700_000_000) / 65_536)).toBe(0)
    expect(other).not.toBe(one)
  })

  it("permits other users to read the checkout, and closes the folder above to them", async () => {
    const { lines } = await runInService(fixture, { config, environment }, "cat $REPO/file.txt")
    expect(lines).toEqual(["reviewed"])
    const modeOf = (file: string) => statSync(file).mode & 0o777
    expect(modeOf(fixture.repository) & 0o005).toBe(0o005)
    expect(modeOf(join(fixture.repository, "file.txt")) & 0o004).toBe(0o004)
    expect(modeOf(fixture.root)).toBe(0o700)
  })

  it.each([
    ["without setpriv", { path: join(provide("bubblewrap")) }, /runs as root.*needs setpriv.*as a user without rights/],
    ["without a filter for its processor", { path, arch: "riscv64" }, /no filter of system calls for .* riscv64/]
  ])("starts nothing %s", async (_, machine, message) => {
    const programs = join(fixture.root, "programs")
    mkdirSync(programs, { recursive: true })
    writeFileSync(join(programs, "bwrap"), "#!/bin/sh\nexit 0\n", { mode: 0o755 })
    const driver = nativeDriver({ ...machine, path: "arch" in machine ? path : programs })
    const problem = await Effect.runPromise(driver.problem(resolve(SandboxConfig, config)))
    expect(problem).toMatchObject({ reason: "missing", message: expect.stringMatching(message) })
  })
})

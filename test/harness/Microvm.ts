/** Parts of virtual machines for tests: Debian's kernel for clouds, and an image with programs of this machine. */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { makeRoot, testPrograms } from "./Podman.ts"
import { provide } from "./Provide.ts"

export interface MicrovmParts {
  readonly kernel: string
  readonly modules_dir: string
  readonly root_image: string
  /** Search path with the programs that the kind needs. */
  readonly path: string
  readonly remove: () => void
}

export interface MicrovmOptions {
  /** Folders and files of this machine that are copied into the image, by their paths there. */
  readonly folders?: Readonly<Record<string, string>>
  /** Programs in addition to those of the tests, as in `makeRoot`. */
  readonly programs?: ReadonlyArray<string>
  /** Default: `256M`. */
  readonly size?: string
}

/** Downloads the package of the kernel without installing it, because its installation changes how this machine starts. */
const fetchKernel = `
set -e
mkdir -p "$1/packages" && cd "$1"
[ -n "$(ls boot 2>/dev/null)" ] && exit 0
name=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \\(linux-image-[^ ]*\\)$/\\1/p' | head -1)
cd packages && apt-get download -qq "$name" && cd ..
dpkg-deb -x packages/*.deb unpacked
mv unpacked/lib . && mv unpacked/boot . && rm -rf unpacked packages
`

const provideKernel = () => {
  const folder = join(homedir(), ".cache/aicr-test-kernel")
  mkdirSync(folder, { recursive: true })
  execFileSync("flock", [folder, "sh", "-c", fetchKernel, "sh", folder], { stdio: ["ignore", "ignore", "pipe"] })
  const [kernel] = globSync(join(folder, "boot/vmlinuz-*"))
  const [modules] = globSync(join(folder, "lib/modules/*"))
  if (kernel === undefined || modules === undefined) throw new Error(`no kernel in ${folder}; remove it and run again`)
  return { kernel, modules_dir: modules }
}

/** Writes a file system; without a folder, an empty one. */
export const makeDisk = (file: string, size: string, folder?: string): void => {
  const from = folder === undefined ? [] : ["-d", folder]
  const options = ["-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", ...from, file, size]
  execFileSync(join(provide("e2fsprogs"), "mke2fs"), options, { stdio: ["ignore", "ignore", "pipe"] })
}

export const makeMicrovm = ({ folders = {}, programs = [], size = "256M" }: MicrovmOptions = {}): MicrovmParts => {
  const path = [provide("qemu"), provide("busybox"), process.env["PATH"] ?? ""].join(":")
  const { kernel, modules_dir } = provideKernel()
  const folder = mkdtempSync(join(tmpdir(), "aicr-microvm-"))
  const root = join(folder, "root")
  mkdirSync(root)
  makeRoot(root, [testPrograms, "setpriv", ...programs].join(" "), "copy")
  for (const [to, from] of Object.entries(folders))
    cpSync(from, join(root, to), { recursive: true, verbatimSymlinks: true })
  const root_image = join(folder, "image.ext4")
  makeDisk(root_image, size, root)
  rmSync(root, { recursive: true })
  return { kernel, modules_dir, root_image, path, remove: () => rmSync(folder, { recursive: true }) }
}

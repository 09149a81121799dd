// Recognises files that hold secrets by name; these are never copied to another machine, even on request.
import { list } from "../text/words.ts";

const names = new Set(
  list(`
  .envrc .netrc _netrc .npmrc .pypirc .git-credentials .htpasswd .pgpass .my.cnf .dockercfg .vault-token .boto .s3cfg
  credentials credentials.json credentials.yml credentials.yaml service-account.json auth.json secrets.json secrets.yml
  secrets.yaml secrets.toml master.key terraform.tfstate terraform.tfvars kubeconfig`),
);

const folders = new Set(list(".ssh .gnupg .aws .azure .gcloud .kube .docker .vault .secrets"));

const patterns: readonly RegExp[] = [
  /^id_(rsa|dsa|ecdsa|ed25519)(?!.*\.pub$)/,
  /\.(pem|key|p12|pfx|p8|jks|keystore|kdbx|ppk|asc|gpg)$/,
  /\.tfstate(\.backup)?$|\.tfvars$/,
];

/** Matches `.env`, `.env.local`, `prod.env`; templates hold no secrets. */
const environment = /^\.env($|[.-])|\.env$/;
const template = /[.-](example|sample|template|dist|defaults?|test)$/;

/** Takes a path with `/` separators, in any case. */
export function holdsSecrets(path: string): boolean {
  const parts = path.toLowerCase().split("/");
  const name = parts.pop()!;
  if (parts.some((part) => folders.has(part)) || names.has(name)) return true;
  if (environment.test(name)) return !template.test(name);
  return patterns.some((pattern) => pattern.test(name));
}

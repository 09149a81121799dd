// Files that hold secrets, by their names: what is never copied to another machine, whoever asks for it.
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

/** `.env`, `.env.local`, `prod.env`; what shows how one is to be written holds none. */
const environment = /^\.env($|[.-])|\.env$/;
const template = /[.-](example|sample|template|dist|defaults?|test)$/;

/** Of a path with `/` between its parts, in any letters. */
export function holdsSecrets(path: string): boolean {
  const parts = path.toLowerCase().split("/");
  const name = parts.pop()!;
  if (parts.some((part) => folders.has(part)) || names.has(name)) return true;
  if (environment.test(name)) return !template.test(name);
  return patterns.some((pattern) => pattern.test(name));
}

import { ODD } from "./bitwarden-fixture.ts";

/** Sources that are plain text. */

/** Quotes a value as RFC 4180 says. */
const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
const line = (...values: string[]) => values.map(quoted).join(",");

export const CHROME = [
  "name,url,username,password,note",
  "example.com,https://example.com/login,me,secret-1,",
  line("", "android://hash@com.example/", "you", `secret ${ODD}`, ODD),
  "",
].join("\n");

const HEADER = "url username password httpRealm formActionOrigin guid timeCreated timeLastUsed timePasswordChanged".split(" ");
export const GUID = "0a1b2c3d-1111-4222-8333-444455556666";
export const FIREFOX = [
  line(...HEADER),
  line(
    "https://example.com",
    "me",
    "secret-1",
    "",
    "https://login.example.com",
    `{${GUID}}`,
    "1700000000000",
    "1700000000001",
    "1700000000002",
  ),
  line("https://router.local", "", ODD, "Admin area", "", "{typed-by-hand}", "", "", ""),
].join("\r\n");

/** The other programs, by the names of their formats: a header as each writes it, and one login. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  safari:
    "Title,URL,Username,Password,Notes,OTPAuth\nShop,https://shop.example,ada,pw1,memo,otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP\n",
  lastpass:
    "url,username,password,totp,extra,name,grouping,fav\nhttps://shop.example,ada,pw1,JBSWY3DPEHPK3PXP,memo,Shop,Work\\Web,1\n" +
    'http://sn,,,,"NoteType:Server\nHostname:db",Memo,,0\n',
  dashlane:
    "username,username2,username3,title,password,note,url,category,otpSecret\nada,ada@shop.example,,Shop,pw1,memo,https://shop.example,Web,JBSWY3DPEHPK3PXP\n",
  "keepassxc-csv":
    '"Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created"\n' +
    '"Root/Work","Shop","ada","pw1","https://shop.example","memo","otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP","7","2024-01-02T03:04:05Z","2023-01-02T03:04:05Z"\n',
  protonpass:
    "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n" +
    'login,Shop,"https://shop.example, https://my.shop.example",ada@shop.example,ada,pw1,memo,otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP,1700000000,1700000001,Personal\n' +
    "login,Mail,https://mail.example,ada@mail.example,,pw2,,,1700000000,1700000001,Personal\n" +
    'creditCard,My card,,,,,"{""cardholderName"":""Ada"",""number"":""4111111111111111"",""verificationNumber"":""123"",""expirationDate"":""122027"",""note"":""memo"",""extra"":[1]}",,1700000000,1700000001,Personal\n',
  roboform:
    "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\n" +
    'Shop,https://shop.example,https://shop.example,ada,\'@pw1,memo,/Work,"User ID$,,,txt,ada","TOTP KEY$,,,txt,JBSWY3DPEHPK3PXP","PIN$,,,pwd,1,2"\n',
  "1password-csv":
    "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nShop,https://shop.example,ada,pw1,otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP,true,true,work;web,memo\n",
  "bitwarden-csv":
    "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n" +
    'Work,1,login,Shop,memo,"PIN: 1:2\nKey: a\nb",1,"https://shop.example,https://my.shop.example",ada,pw1,JBSWY3DPEHPK3PXP\n',
  nordpass:
    "name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,shared_folder,full_name,phone_number,email,address1,address2,city,country,state,type,custom_fields\n" +
    "Work,,,,,,,,,,,,,,,,,,,,,,folder,\nEmpty,,,,,,,,,,,,,,,,,,,,,,folder,\n" +
    'Shop,https://shop.example,"[""https://my.shop.example""]",ada,pw1,memo,,,,,,,Work,,,,,,,,,,password,"[{""label"":""PIN"",""type"":""hidden"",""value"":""12""}]"\n' +
    "My card,,,,,,Ada Example,4111111111111111,123,9,12/27,1010,,,,,,,,,,,credit_card,\n" +
    "Me,,,,,,,,,,,1010,,,Ada Example,555,ada@shop.example,Street 1,,City,XX,ST,identity,\nMemo,,,,,the memo,,,,,,,,,,,,,,,,,note,\n",
};

export const DOTENV = [
  "# a comment",
  "PLAIN=secret value # another",
  'export QUOTED="secret # no comment"',
  "SINGLE='it is \"quoted\"' # third",
  'LINES="first',
  "# second",
  'third"',
  "EMPTY=",
  "PLAIN=secret again",
  "no variable",
  "",
].join("\n");

/** What `kv get -format=json` prints (developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2#sample-response-1). */
export const outer = (data: unknown, more: object = {}) => ({
  request_id: "b1d1a0d6-0000-4000-8000-000000000000",
  lease_id: "",
  lease_duration: 0,
  renewable: false,
  data,
  warnings: null,
  ...more,
});

export const version2 = (data: unknown, version: number, more: object = {}, custom: unknown = null) =>
  outer(
    {
      data,
      metadata: {
        created_time: `2024-01-0${version}T03:04:05.123456789Z`,
        custom_metadata: custom,
        deletion_time: data === null ? "2024-02-01T00:00:00Z" : "",
        destroyed: false,
        version,
      },
    },
    more,
  );

/** Three versions of one secret with a path that was added, and one without. */
export const VAULT_KV = [
  version2({ password: "secret-2" }, 3, { path: "secret/prod/db" }, { owner: "team" }),
  version2(null, 2, { path: "secret/prod/db" }),
  version2({ password: "secret-1" }, 1, { path: "secret/prod/db" }),
  outer({ key: "secret" }),
];

"""Objects as the API server has them inside, where it shows: in differences and values.

Inside, fields have their Go names and an order of their own, nothing is left out, and a few stand
elsewhere than in `v1`. `STRUCTS` has the types as k8s.io/kubernetes `pkg/apis/core/types.go`:

    Name type; Name=jsonName type; *Embedded; ...

where a type is `s` (text), `n` (number), `b` (boolean), `q` (quantity), `x` (anything, as it is),
`l` (label selector) or a struct, `*T` may be null, `[]T` and `{}T` are null when empty.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from celadon.kube.json_types import JsonObject
from celadon.kube.validation.label_rules import printed_selector
from celadon.patterns import late_pattern

_HANDLERS: Final = "Exec *Exec; HTTPGet *HTTPGet; TCPSocket *TCPSocket"
_CONTAINER: Final = """Name s; Image s; Command []s; Args []s; WorkingDir s; Ports []Port;
    EnvFrom []EnvFrom; Env []EnvVar; Resources Resources; ResizePolicy []ResizePolicy;
    RestartPolicy *s; RestartPolicyRules []RestartRule; VolumeMounts []VolumeMount;
    VolumeDevices []VolumeDevice; LivenessProbe *Probe; ReadinessProbe *Probe; StartupProbe *Probe;
    Lifecycle *Lifecycle; TerminationMessagePath s; TerminationMessagePolicy s; ImagePullPolicy s;
    SecurityContext *ContainerSecurity; Stdin b; StdinOnce b; TTY b"""

STRUCTS: Final = {
    "PodSpec": """Volumes []Volume; InitContainers []Container; Containers []Container;
        EphemeralContainers []EphemeralContainer; RestartPolicy s; TerminationGracePeriodSeconds *n;
        ActiveDeadlineSeconds *n; DNSPolicy s; NodeSelector {}s; ServiceAccountName s;
        AutomountServiceAccountToken *b; NodeName s; SecurityContext *PodSecurity;
        ImagePullSecrets []Named; Hostname s; Subdomain s; SetHostnameAsFQDN *b; Affinity *Affinity;
        SchedulerName s; Tolerations []Toleration; HostAliases []HostAlias; PriorityClassName s;
        Priority *n; PreemptionPolicy *s; DNSConfig *DNSConfig; ReadinessGates []ReadinessGate;
        RuntimeClassName *s; Overhead {}q; EnableServiceLinks *b;
        TopologySpreadConstraints []Spread; OS *Named; SchedulingGates []Named;
        ResourceClaims []PodClaim; Resources *Resources; HostnameOverride *s; SchedulingGroup *x""",
    "Container": _CONTAINER,
    "EphemeralContainer": f"{_CONTAINER}; TargetContainerName s",
    "Port": "Name s; HostPort n; ContainerPort n; Protocol s; HostIP s",
    "EnvFrom": "Prefix s; ConfigMapRef *OptionalName; SecretRef *OptionalName",
    "OptionalName": "Name s; Optional *b",
    "EnvVar": "Name s; Value s; ValueFrom *EnvVarSource",
    "EnvVarSource": """FieldRef *FieldRef; ResourceFieldRef *ResourceRef; ConfigMapKeyRef *KeyRef;
        SecretKeyRef *KeyRef; FileKeyRef *FileKeyRef""",
    "FieldRef": "APIVersion s; FieldPath s",
    "ResourceRef": "ContainerName s; Resource s; Divisor q",
    "KeyRef": "Name s; Key s; Optional *b",
    "FileKeyRef": "VolumeName s; Path s; Key s; Optional *b",
    "Resources": "Limits {}q; Requests {}q; Claims []ResourceClaim",
    "ResourceClaim": "Name s; Request s",
    "ResizePolicy": "ResourceName s; RestartPolicy s",
    "RestartRule": "Action s; ExitCodes *ExitCodes",
    "ExitCodes": "Operator s; Values []n",
    "VolumeMount": """Name s; ReadOnly b; RecursiveReadOnly *s; MountPath s; SubPath s;
        MountPropagation *s; SubPathExpr s""",
    "VolumeDevice": "Name s; DevicePath s",
    "Probe": f"""{_HANDLERS}; GRPC *GRPC; InitialDelaySeconds n; TimeoutSeconds n; PeriodSeconds n;
        SuccessThreshold n; FailureThreshold n; TerminationGracePeriodSeconds *n""",
    "Exec": "Command []s",
    "HTTPGet": "Path s; Port x; Host s; Scheme s; HTTPHeaders []Pair",
    "TCPSocket": "Port x; Host s",
    "GRPC": "Port n; Service *s",
    "Pair": "Name s; Value s",
    "Lifecycle": "PostStart *Handler; PreStop *Handler; StopSignal *s",
    "Handler": f"{_HANDLERS}; Sleep *Sleep",
    "Sleep": "Seconds n",
    "ContainerSecurity": """Capabilities *Capabilities; Privileged *b; SELinuxOptions *SELinux;
        WindowsOptions *Windows; RunAsUser *n; RunAsGroup *n; RunAsNonRoot *b;
        ReadOnlyRootFilesystem *b; AllowPrivilegeEscalation *b; ProcMount *s;
        SeccompProfile *Profile; AppArmorProfile *Profile""",
    "Capabilities": "Add []s; Drop []s",
    "SELinux": "User s; Role s; Type s; Level s",
    "Windows": """GMSACredentialSpecName *s; GMSACredentialSpec *s; RunAsUserName *s;
        HostProcess *b""",
    "Profile": "Type s; LocalhostProfile *s",
    "PodSecurity": """HostNetwork b; HostPID b; HostIPC b; ShareProcessNamespace *b; HostUsers *b;
        SELinuxOptions *SELinux; WindowsOptions *Windows; RunAsUser *n; RunAsGroup *n;
        RunAsNonRoot *b; SupplementalGroups []n; SupplementalGroupsPolicy *s; FSGroup *n;
        FSGroupChangePolicy *s; Sysctls []Pair; SeccompProfile *Profile; AppArmorProfile *Profile;
        SELinuxChangePolicy *s""",
    "Named": "Name s",
    "Toleration": "Key s; Operator s; Value s; Effect s; TolerationSeconds *n",
    "HostAlias": "IP s; Hostnames []s",
    "DNSConfig": "Nameservers []s; Searches []s; Options []DNSOption",
    "DNSOption": "Name s; Value *s",
    "ReadinessGate": "ConditionType s",
    "Spread": """MaxSkew n; TopologyKey s; WhenUnsatisfiable s; LabelSelector *l; MinDomains *n;
        NodeAffinityPolicy *s; NodeTaintsPolicy *s; MatchLabelKeys []s""",
    "PodClaim": "Name s; ResourceClaimName *s; ResourceClaimTemplateName *s",
    "Affinity": """NodeAffinity *NodeAffinity; PodAffinity *PodAffinity;
        PodAntiAffinity *PodAffinity""",
    "NodeAffinity": """RequiredDuringSchedulingIgnoredDuringExecution *NodeSelector;
        PreferredDuringSchedulingIgnoredDuringExecution []PreferredNodes""",
    "NodeSelector": "NodeSelectorTerms []NodeTerm",
    "NodeTerm": "MatchExpressions []NodeExpression; MatchFields []NodeExpression",
    "NodeExpression": "Key s; Operator s; Values []s",
    "PreferredNodes": "Weight n; Preference NodeTerm",
    "PodAffinity": """RequiredDuringSchedulingIgnoredDuringExecution []PodTerm;
        PreferredDuringSchedulingIgnoredDuringExecution []WeightedPods""",
    "PodTerm": """LabelSelector *l; Namespaces []s; TopologyKey s; NamespaceSelector *l;
        MatchLabelKeys []s; MismatchLabelKeys []s""",
    "WeightedPods": "Weight n; PodAffinityTerm PodTerm",
    "Volume": """Name s; HostPath *HostPath; EmptyDir *EmptyDir; GCEPersistentDisk *GCE;
        AWSElasticBlockStore *Disk; GitRepo *GitRepo; Secret *SecretVolume; NFS *NFS; ISCSI *ISCSI;
        Glusterfs *Glusterfs; PersistentVolumeClaim *Claim; RBD *RBD; Quobyte *Quobyte;
        FlexVolume *Flex; Cinder *Cinder; CephFS=cephfs *CephFS; Flocker *Flocker;
        DownwardAPI *Downward; FC *FC; AzureFile *AzureFile; ConfigMap *MapVolume;
        VsphereVolume *Vsphere; AzureDisk *AzureDisk; PhotonPersistentDisk *Photon;
        Projected *Projected; PortworxVolume *Portworx; ScaleIO *ScaleIO; StorageOS=storageos
        *StorageOS; CSI *CSI; Ephemeral *Ephemeral; Image *Image""",
    "HostPath": "Path s; Type *s",
    "EmptyDir": "Medium s; SizeLimit *q",
    "GCE": "PDName s; FSType s; Partition n; ReadOnly b",
    "Disk": "VolumeID s; FSType s; Partition n; ReadOnly b",
    "GitRepo": "Repository s; Revision s; Directory s",
    "SecretVolume": "SecretName s; Items []KeyPath; DefaultMode *n; Optional *b",
    "MapVolume": "Name s; Items []KeyPath; DefaultMode *n; Optional *b",
    "KeyPath": "Key s; Path s; Mode *n",
    "NFS": "Server s; Path s; ReadOnly b",
    "ISCSI": """TargetPortal s; IQN s; Lun n; ISCSIInterface s; FSType s; ReadOnly b; Portals []s;
        DiscoveryCHAPAuth=chapAuthDiscovery b; SessionCHAPAuth=chapAuthSession b; SecretRef *Named;
        InitiatorName *s""",
    "Glusterfs": "EndpointsName=endpoints s; Path s; ReadOnly b",
    "Claim": "ClaimName s; ReadOnly b",
    "RBD": """CephMonitors=monitors []s; RBDImage=image s; FSType s; RBDPool=pool s;
        RadosUser=user s; Keyring s; SecretRef *Named; ReadOnly b""",
    "Quobyte": "Registry s; Volume s; ReadOnly b; User s; Group s; Tenant s",
    "Flex": "Driver s; FSType s; SecretRef *Named; ReadOnly b; Options {}s",
    "Cinder": "VolumeID s; FSType s; ReadOnly b; SecretRef *Named",
    "CephFS": "Monitors []s; Path s; User s; SecretFile s; SecretRef *Named; ReadOnly b",
    "Flocker": "DatasetName s; DatasetUUID s",
    "Downward": "Items []DownwardFile; DefaultMode *n",
    "DownwardFile": "Path s; FieldRef *FieldRef; ResourceFieldRef *ResourceRef; Mode *n",
    "FC": "TargetWWNs []s; Lun *n; FSType s; ReadOnly b; WWIDs=wwids []s",
    "AzureFile": "SecretName s; ShareName s; ReadOnly b",
    "Vsphere": "VolumePath s; FSType s; StoragePolicyName s; StoragePolicyID s",
    "AzureDisk": """DiskName s; DataDiskURI=diskURI s; CachingMode *s; FSType *s; ReadOnly *b;
        Kind *s""",
    "Photon": "PdID s; FSType s",
    "Projected": "Sources []Source; DefaultMode *n",
    "Source": """Secret *ProjectedMap; DownwardAPI *ProjectedDownward; ConfigMap *ProjectedMap;
        ServiceAccountToken *Token; ClusterTrustBundle *Bundle; PodCertificate *Certificate""",
    "ProjectedMap": "Name s; Items []KeyPath; Optional *b",
    "ProjectedDownward": "Items []DownwardFile",
    "Token": "Audience s; ExpirationSeconds n; Path s",
    "Bundle": "Name *s; SignerName *s; LabelSelector *l; Optional *b; Path s",
    "Certificate": """SignerName s; KeyType s; MaxExpirationSeconds *n; CredentialBundlePath s;
        KeyPath s; CertificateChainPath s; UserAnnotations {}s""",
    "Portworx": "VolumeID s; FSType s; ReadOnly b",
    "ScaleIO": """Gateway s; System s; SecretRef *Named; SSLEnabled b; ProtectionDomain s;
        StoragePool s; StorageMode s; VolumeName s; FSType s; ReadOnly b""",
    "StorageOS": "VolumeName s; VolumeNamespace s; FSType s; ReadOnly b; SecretRef *Named",
    "CSI": """Driver s; ReadOnly *b; FSType *s; VolumeAttributes {}s;
        NodePublishSecretRef *Named""",
    "Ephemeral": "VolumeClaimTemplate *x",
    "Image": "Reference s; PullPolicy s",
    "ClaimSpec": """AccessModes []s; Selector *l; Resources Amounts; VolumeName s;
        StorageClassName *s; VolumeMode *s; DataSource *DataSource; DataSourceRef *DataReference;
        VolumeAttributesClassName *s""",
    "Amounts": "Limits {}q; Requests {}q",
    "VolumeSource": """GCEPersistentDisk *GCE; AWSElasticBlockStore *Disk; HostPath *HostPath;
        Glusterfs *LastingGlusterfs; NFS *NFS; RBD *LastingRBD; Quobyte *Quobyte;
        ISCSI *LastingISCSI; FlexVolume *LastingFlex; Cinder *LastingCinder; CephFS=cephfs
        *LastingCephFS; FC *FC; Flocker *Flocker; AzureFile *LastingAzureFile;
        VsphereVolume *Vsphere; AzureDisk *AzureDisk; PhotonPersistentDisk *Photon;
        PortworxVolume *Portworx; ScaleIO *LastingScaleIO; Local *Local; StorageOS=storageos
        *LastingStorageOS; CSI *LastingCSI""",
    "LastingGlusterfs": "EndpointsName=endpoints s; Path s; ReadOnly b; EndpointsNamespace *s",
    "LastingRBD": """CephMonitors=monitors []s; RBDImage=image s; FSType s; RBDPool=pool s;
        RadosUser=user s; Keyring s; SecretRef *Secret; ReadOnly b""",
    "LastingISCSI": """TargetPortal s; IQN s; Lun n; ISCSIInterface s; FSType s; ReadOnly b;
        Portals []s; DiscoveryCHAPAuth=chapAuthDiscovery b; SessionCHAPAuth=chapAuthSession b;
        SecretRef *Secret; InitiatorName *s""",
    "LastingFlex": "Driver s; FSType s; SecretRef *Secret; ReadOnly b; Options {}s",
    "LastingCinder": "VolumeID s; FSType s; ReadOnly b; SecretRef *Secret",
    "LastingCephFS": """Monitors []s; Path s; User s; SecretFile s; SecretRef *Secret;
        ReadOnly b""",
    "LastingAzureFile": "SecretName s; ShareName s; ReadOnly b; SecretNamespace *s",
    "LastingScaleIO": """Gateway s; System s; SecretRef *Secret; SSLEnabled b; ProtectionDomain s;
        StoragePool s; StorageMode s; VolumeName s; FSType s; ReadOnly b""",
    "Local": "Path s; FSType *s",
    "LastingStorageOS": """VolumeName s; VolumeNamespace s; FSType s; ReadOnly b;
        SecretRef *Reference""",
    "LastingCSI": """Driver s; VolumeHandle s; ReadOnly b; FSType s; VolumeAttributes {}s;
        ControllerPublishSecretRef *Secret; NodeStageSecretRef *Secret;
        NodePublishSecretRef *Secret; ControllerExpandSecretRef *Secret;
        NodeExpandSecretRef *Secret""",
    "Secret": "Name s; Namespace s",
    "Reference": """Kind s; Namespace s; Name s; UID s; APIVersion s; ResourceVersion s;
        FieldPath s""",
    "DataSource": "APIGroup *s; Kind s; Name s",
    "FailurePolicy": "Rules []FailureRule",
    "FailureRule": "Action s; OnExitCodes *JobExitCodes; OnPodConditions []PodPattern",
    "JobExitCodes": "ContainerName *s; Operator s; Values []n",
    "PodPattern": "Type s; Status s",
    "SuccessPolicy": "Rules []SuccessRule",
    "SuccessRule": "SucceededIndexes *s; SucceededCount *n",
    "ScopeSelector": "MatchExpressions []ScopeExpression",
    "ScopeExpression": "ScopeName s; Operator s; Values []s",
    "SigningCondition": """Type s; Status s; Reason s; Message s; LastUpdateTime *x;
        LastTransitionTime *x""",
    "VolumeAffinity": "Required *NodeSelector",
    "NodeDriver": "Name s; NodeID s; TopologyKeys []s; Allocatable *DriverLimit",
    "DriverLimit": "Count *n",
    "Attachment": "Attacher s; Source Attached; NodeName s",
    "Attached": "PersistentVolumeName *s; InlineVolumeSpec *x",
    "Taint": "Key s; Value s; Effect s; TimeAdded *x",
    "CertificateWish": """SignerName s; PodName s; PodUID s; ServiceAccountName s;
        ServiceAccountUID s; NodeName s; NodeUID s; MaxExpirationSeconds *n; PKIXPublicKey *s;
        ProofOfPossession *s; StubPKCS10Request *s; UnverifiedUserAnnotations {}s""",
    "FlowSchemaSpec": """PriorityLevelConfiguration Named; MatchingPrecedence n;
        DistinguisherMethod *Distinguisher; Rules []FlowRule""",
    "Distinguisher": "Type s",
    "FlowRule": """Subjects []FlowSubject; ResourceRules []FlowResources;
        NonResourceRules []FlowURLs""",
    "FlowSubject": "Kind s; User *Named; Group *Named; ServiceAccount *FlowAccount",
    "FlowAccount": "Namespace s; Name s",
    "FlowResources": """Verbs []s; APIGroups []s; Resources []s; ClusterScope b; Namespaces []s""",
    "FlowURLs": "Verbs []s; NonResourceURLs []s",
    "PriorityLevelSpec": "Type s; Limited *LimitedLevel; Exempt *ExemptLevel",
    "LimitedLevel": """NominalConcurrencyShares n; LimitResponse LimitResponse; LendablePercent *n;
        BorrowingLimitPercent *n""",
    "ExemptLevel": "NominalConcurrencyShares *n; LendablePercent *n",
    "LimitResponse": "Type s; Queuing *Queuing",
    "Queuing": "Queues n; HandSize n; QueueLengthLimit n",
    "DeviceClaimSpec": "Devices DeviceClaim",
    "DeviceClaim": """Requests []DeviceRequest; Constraints []DeviceConstraint;
        Config []DeviceConfig""",
    "DeviceRequest": "Name s; Exactly *DeviceWish; FirstAvailable []DeviceAlternative",
    "DeviceWish": """DeviceClassName s; Selectors []DeviceSelector; AllocationMode s; Count n;
        AdminAccess *b; Tolerations []DeviceToleration; Capacity *CapacityWish""",
    "DeviceAlternative": """Name s; DeviceClassName s; Selectors []DeviceSelector; AllocationMode s;
        Count n; Tolerations []DeviceToleration; Capacity *CapacityWish""",
    "CapacityWish": "Requests {}q",
    "DeviceSelector": "CEL *DeviceExpression",
    "DeviceExpression": "Expression s",
    "DeviceToleration": "Key s; Operator s; Value s; Effect s; TolerationSeconds *n",
    "DeviceConstraint": "Requests []s; MatchAttribute *s; DistinctAttribute *s",
    "DeviceConfig": "Requests []s; Opaque *OpaqueConfig",
    "OpaqueConfig": "Driver s; Parameters *x",
    "DeviceAttribute": """IntValue=int *n; BoolValue=bool *b; StringValue=string *s;
        VersionValue=version *s; IntValues=ints []n; BoolValues=bools []b; StringValues=strings []s;
        VersionValues=versions []s""",
    "DataReference": "APIGroup *s; Kind s; Name s; Namespace *s",
}
"""What each struct has, in order."""

OF_POD: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields that a pod has in `v1` and its security context inside."""

_ZEROS: Final[Mapping[str, Any]] = {"s": "", "n": 0, "b": False, "q": "0", "x": 0}
_WORDS: Final = late_pattern(r"[A-Z]+(?=[A-Z][a-z]|[0-9]|\b)|[A-Z]")


class Field(NamedTuple):
    """A member of a struct: what it is called inside and in `v1`, and its type."""

    name: str
    key: str
    type: str


@functools.cache
def fields_of(struct: str) -> tuple[Field, ...]:
    """The members of a struct, in order."""
    return tuple(map(_field, STRUCTS[struct].split(";")))


def _field(text: str) -> Field:
    named, kind = text.split()
    name, _, key = named.partition("=")
    return Field(name, key or _WORDS.sub(lambda found: found[0].lower(), name, count=1), kind)


def internal_pod_spec(spec: JsonObject) -> dict[str, Any]:
    """A spec of `v1` as it is inside."""
    host = {field: spec[field] for field in OF_POD if field in spec}
    context = {**(spec.get("securityContext") or {}), **host}
    return internal_value({**spec, "securityContext": context}, "PodSpec")


def internal_template(template: JsonObject) -> dict[str, Any]:
    """A template of pods: its metadata is the same outside, and lies open."""
    spec = internal_pod_spec(template.get("spec") or {})
    return {**(template.get("metadata") or {}), "Spec": spec}


def internal_value(obj: JsonObject, struct: str) -> dict[str, Any]:
    """A part of a spec as it is inside; `struct` is a key of `STRUCTS`."""
    return {one.name: _value(obj.get(one.key), one.type) for one in fields_of(struct)}


def _value(value: Any, kind: str) -> Any:
    if kind.startswith("*"):
        return None if value is None else _value(value, kind[1:])
    inner = kind[2:]
    if kind.startswith("[]"):
        return None if value is None else [_value(one, inner) for one in value]
    if kind.startswith("{}"):
        return None if value is None else {key: _value(value[key], inner) for key in sorted(value)}
    if kind == "l":
        return printed_selector(value)
    if kind in _ZEROS:
        return _ZEROS[kind] if value is None else value
    return internal_value(value or {}, kind)

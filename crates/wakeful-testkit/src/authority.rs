//! A certificate authority on loopback, and certificates with the usual defects.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, IsCa, Issuer,
    KeyPair, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

const VALID: (i32, i32) = (2020, 2090);

pub struct Authority {
    key: KeyPair,
    params: CertificateParams,
    root: CertificateDer<'static>,
    pem: String,
}

/// A certificate with its key, as a server presents it.
pub struct Identity {
    pub chain: Vec<CertificateDer<'static>>,
    /// The certificate and the key as PEM.
    pub pem: (String, String),
    key: Vec<u8>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let (params, key) = (authority(name), KeyPair::generate().unwrap());
        let root = params.self_signed(&key).unwrap();
        Self { key, params, root: root.der().clone(), pem: root.pem() }
    }

    /// For clients that trust it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        roots
    }

    pub fn issue(&self, name: &str) -> Identity {
        self.issue_for_years(name, VALID)
    }

    /// Valid from the beginning of one year to the beginning of another.
    pub fn issue_for_years(&self, name: &str, years: (i32, i32)) -> Identity {
        issue(&Issuer::from_params(&self.params, &self.key), name, years)
    }

    /// By an intermediate authority, whose certificate the server does not send.
    pub fn issue_without_chain(&self, name: &str) -> Identity {
        let (params, key) = (authority("Intermediate"), KeyPair::generate().unwrap());
        issue(&Issuer::from_params(&params, &key), name, VALID)
    }
}

impl Identity {
    pub fn self_signed(name: &str) -> Self {
        let (params, key) = (leaf(name, VALID), KeyPair::generate().unwrap());
        Self::new(&params.self_signed(&key).unwrap(), &key)
    }

    fn new(certificate: &Certificate, key: &KeyPair) -> Self {
        let pem = (certificate.pem(), key.serialize_pem());
        Self { chain: vec![certificate.der().clone()], pem, key: key.serialize_der() }
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::try_from(self.key.clone()).unwrap()
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = leaf(name, VALID);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn leaf(name: &str, (from, until): (i32, i32)) -> CertificateParams {
    let names = if name.contains(' ') { Vec::new() } else { vec![name.to_owned()] };
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    params
}

fn issue(issuer: &Issuer<'_, &KeyPair>, name: &str, years: (i32, i32)) -> Identity {
    let key = KeyPair::generate().unwrap();
    Identity::new(&leaf(name, years).signed_by(&key, issuer).unwrap(), &key)
}
